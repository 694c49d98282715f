"""Runs that are ordered over the web: a queue that survives the server, and what carries its jobs out."""
