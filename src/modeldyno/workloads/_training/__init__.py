"""What the training workload is made of: a trainer, what it costs, and where it leads."""
