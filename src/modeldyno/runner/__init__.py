"""Suite to cases to worker processes to records."""
