"""What the workload serving is made of: the load, the server, the search for the highest rate."""
