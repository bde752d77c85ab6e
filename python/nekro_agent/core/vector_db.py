"""The vector database, Qdrant: the one that the operator names, else files of our own."""

import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from nekro_agent import texts
from nekro_agent.core.os_env import OsEnv


class QdrantConfig(BaseModel):
    url: str
    api_key: str | None


class QdrantMissing(RuntimeError):
    """There is not even its client."""


_client: Any = None


def _url() -> str:
    return OsEnv.QDRANT_URL or os.environ.get("QDRANT_URL", "")


def get_qdrant_config() -> QdrantConfig:
    """Compat(nekro): plugins read this while they load; with no Qdrant it is where one would be."""
    return QdrantConfig(url=_url() or "http://127.0.0.1:6333", api_key=OsEnv.QDRANT_API_KEY or None)


async def get_qdrant_client() -> Any:
    """An `AsyncQdrantClient`, the same one for all plugins."""
    global _client
    if _client is None:
        try:
            from qdrant_client import AsyncQdrantClient
        except ImportError as error:
            raise QdrantMissing(texts.NO_QDRANT) from error
        if _url():
            settings = get_qdrant_config()
            _client = AsyncQdrantClient(url=settings.url, api_key=settings.api_key)
        else:
            # Its own local mode: slower than a server with very many vectors, and the same to plugins.
            _client = AsyncQdrantClient(path=str(Path(OsEnv.DATA_DIR) / "qdrant"))
    return _client
