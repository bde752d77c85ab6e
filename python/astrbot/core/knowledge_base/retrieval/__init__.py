"""How knowledge bases find things."""

from astrbot.core.knowledge_base.models import RetrievalResult

__all__ = ["RetrievalResult"]
