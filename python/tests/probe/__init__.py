"""For tests only."""
