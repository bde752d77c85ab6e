"""What a knowledge base and its documents are."""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone


def _id() -> str:
    return str(uuid.uuid4())


def _now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass
class _Row:
    def model_dump(self) -> dict:
        """Compat(astrbot): rows are models of pydantic there."""
        return asdict(self)


@dataclass
class KnowledgeBase(_Row):
    kb_name: str
    description: str | None = None
    emoji: str | None = "📚"
    embedding_provider_id: str | None = None
    rerank_provider_id: str | None = None
    chunk_size: int = 512
    chunk_overlap: int = 50
    top_k_dense: int = 50
    top_k_sparse: int = 50
    top_m_final: int = 5
    kb_id: str = field(default_factory=_id)
    created_at: datetime = field(default_factory=_now)
    updated_at: datetime = field(default_factory=_now)
    doc_count: int = 0
    chunk_count: int = 0


@dataclass
class KBDocument(_Row):
    kb_id: str
    doc_name: str
    file_type: str
    file_size: int
    file_path: str = ""
    chunk_count: int = 0
    media_count: int = 0
    doc_id: str = field(default_factory=_id)
    created_at: datetime = field(default_factory=_now)
    updated_at: datetime = field(default_factory=_now)


@dataclass
class RetrievalResult:
    chunk_id: str
    doc_id: str
    doc_name: str
    kb_id: str
    kb_name: str
    content: str
    score: float
    metadata: dict
