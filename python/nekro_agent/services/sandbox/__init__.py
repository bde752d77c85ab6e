"""Runs of code, which the host owns."""
