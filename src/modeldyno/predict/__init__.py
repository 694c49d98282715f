"""What was not measured, told from what was: with an interval, or not at all."""
