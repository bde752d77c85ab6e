"""`FaissVecDB`: texts that are found by meaning, in two files of the plugin's choice."""

from __future__ import annotations

import uuid
from typing import Any

import numpy

from astrbot.core.db.vec_db.base import BaseVecDB, Result
from astrbot.core.provider.provider import EmbeddingProvider, RerankProvider

from .document_storage import DocumentStorage
from .embedding_storage import EmbeddingStorage


class FaissVecDB(BaseVecDB):
    def __init__(
        self,
        doc_store_path: str,
        index_store_path: str,
        embedding_provider: EmbeddingProvider,
        rerank_provider: RerankProvider | None = None,
    ) -> None:
        self.doc_store_path = doc_store_path
        self.index_store_path = index_store_path
        self.embedding_provider = embedding_provider
        self.rerank_provider = rerank_provider
        self.document_storage = DocumentStorage(doc_store_path)
        self.embedding_storage = EmbeddingStorage(embedding_provider.get_dim(), index_store_path)

    async def initialize(self) -> None:
        await self.document_storage.initialize()

    async def insert(self, content: str, metadata: dict | None = None, id: str | None = None) -> int:
        vector = await self.embedding_provider.get_embedding(content)
        return (await self._keep([id or str(uuid.uuid4())], [content], [metadata or {}], [vector]))[0]

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
    ) -> list[int]:
        """`embedding_contents` are what the vectors are made of, where that is not the texts themselves."""
        if not contents:
            return []
        vectors = await self.embedding_provider.get_embeddings_batch(
            contents if embedding_contents is None else embedding_contents,
            batch_size=batch_size,
            tasks_limit=tasks_limit,
            max_retries=max_retries,
            progress_callback=progress_callback,
        )
        ids = ids or [str(uuid.uuid4()) for _ in contents]
        return await self._keep(ids, contents, metadatas or [{} for _ in contents], vectors)

    async def _keep(
        self, ids: list[str], contents: list[str], metadatas: list[dict], vectors: list[list[float]]
    ) -> list[int]:
        """Both files or neither."""
        if not len(ids) == len(contents) == len(metadatas) == len(vectors):
            raise ValueError("there must be as many ids, metadata and vectors as texts")
        numbers = await self.document_storage.insert_documents_batch(ids, contents, metadatas)
        try:
            await self.embedding_storage.insert_batch(_unit(vectors), numbers)
        except Exception:
            for id in ids:
                await self.document_storage.delete_document_by_doc_id(id)
            raise
        return numbers

    async def retrieve(
        self,
        query: str,
        k: int = 5,
        fetch_k: int = 20,
        rerank: bool = False,
        metadata_filters: dict | None = None,
    ) -> list[Result]:
        """The nearest first. Filters apply to the nearest `fetch_k`."""
        asked = _unit([await self.embedding_provider.get_embedding(query)])
        distances, numbers = await self.embedding_storage.search(asked, fetch_k if metadata_filters else k)
        near = {
            int(number): 1 - distance / 2
            for number, distance in zip(numbers[0], distances[0], strict=True)
            if number != -1
        }
        if not near:
            return []
        texts = await self.document_storage.get_documents(metadata_filters or {}, list(near), limit=None)
        known = {one["id"]: one for one in texts}
        found = [Result(float(near[number]), known[number]) for number in near if number in known][:k]
        if rerank and self.rerank_provider and found:
            ranked = await self.rerank_provider.rerank(query, [one.data["text"] for one in found])
            found = [found[one.index] for one in sorted(ranked, key=lambda one: -one.relevance_score)]
        return found

    async def delete(self, doc_id: str) -> None:
        found = await self.document_storage.get_document_by_doc_id(doc_id)
        if found is not None:
            await self.document_storage.delete_document_by_doc_id(doc_id)
            await self.embedding_storage.delete([found["id"]])

    async def delete_documents(self, metadata_filters: dict) -> None:
        gone = await self.document_storage.get_documents(metadata_filters, limit=None)
        await self.document_storage.delete_documents(metadata_filters)
        await self.embedding_storage.delete([one["id"] for one in gone])

    async def count_documents(self, metadata_filter: dict | None = None) -> int:
        return await self.document_storage.count_documents(metadata_filter)

    async def close(self) -> None:
        await self.document_storage.close()


def _unit(vectors: Any) -> Any:
    """Of length one, as most models give them: then the distance is the likeness of meaning."""
    matrix = numpy.asarray(vectors, dtype="float32")
    return matrix / numpy.maximum(numpy.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)
