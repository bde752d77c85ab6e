"""Platforms, as plugins name them."""
