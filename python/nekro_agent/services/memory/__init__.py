"""Embeddings, by the host's models."""
