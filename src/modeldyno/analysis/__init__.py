"""Pure functions that turn records into answers."""
