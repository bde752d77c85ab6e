"""Work at given times."""
