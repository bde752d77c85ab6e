"""The interface of a vector store."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any


@dataclass
class Result:
    similarity: float
    data: dict


class BaseVecDB(abc.ABC):
    async def initialize(self) -> None:
        return None

    @abc.abstractmethod
    async def insert(self, content: str, metadata: dict | None = None, id: str | None = None) -> int: ...

    @abc.abstractmethod
    async def insert_batch(
        self,
        contents: list[str],
        metadatas: list[dict] | None = None,
        ids: list[str] | None = None,
        batch_size: int = 32,
        tasks_limit: int = 3,
        max_retries: int = 3,
        progress_callback: Any = None,
        embedding_contents: list[str] | None = None,
    ) -> list[int]: ...

    @abc.abstractmethod
    async def retrieve(
        self,
        query: str,
        k: int = 5,
        fetch_k: int = 20,
        rerank: bool = False,
        metadata_filters: dict | None = None,
    ) -> list[Result]: ...

    @abc.abstractmethod
    async def delete(self, doc_id: str) -> None: ...

    @abc.abstractmethod
    async def close(self) -> None: ...
