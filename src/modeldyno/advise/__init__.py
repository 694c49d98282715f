"""What to do next, worked out from models and records: how to train on many GPUs."""
