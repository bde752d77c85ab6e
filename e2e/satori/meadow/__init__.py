"""Satori through the real binary, against the server that satori-python publishes; started by python/tests/test_satori.py."""
