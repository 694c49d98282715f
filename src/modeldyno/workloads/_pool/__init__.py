"""The parts of the workload pool."""
