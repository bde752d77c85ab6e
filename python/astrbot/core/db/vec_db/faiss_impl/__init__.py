"""The vector store that plugins know by its upstream's library."""

from .vec_db import FaissVecDB

__all__ = ["FaissVecDB"]
