"""Vector stores that plugins make for themselves."""

from .base import BaseVecDB, Result

__all__ = ["BaseVecDB", "Result"]
