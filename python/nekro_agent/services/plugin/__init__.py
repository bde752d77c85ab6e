"""Plugins: their object, their tasks, their packages."""
