"""The parts of the workload hardware."""
