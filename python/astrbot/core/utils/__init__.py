"""Paths, preferences, waiting for messages and other small parts."""
