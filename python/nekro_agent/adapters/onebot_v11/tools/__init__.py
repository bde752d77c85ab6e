"""Helpers of the OneBot platform."""
