"""One knowledge base: documents in, the pieces that fit a question out."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy

from astrbot import texts
from astrbot.core.knowledge_base.models import KBDocument, KnowledgeBase, RetrievalResult
from astrbot.core.knowledge_base.shelf import Shelf

_TEXTS = {"txt", "md", "markdown", "text", "json", "csv", "html", "htm", "log", "yaml", "yml", ""}
# The usual weight of a place in a ranking, so that two rankings can be added.
_FUSION = 60


class KBHelper:
    def __init__(self, shelf: Shelf, kb: KnowledgeBase, provider_manager: Any) -> None:
        self.kb = kb
        self.prov_mgr = provider_manager
        self.init_error: str | None = None
        self._shelf = shelf

    async def initialize(self) -> None:
        await self.get_ep()

    async def get_ep(self) -> Any:
        found = await self.prov_mgr.get_provider_by_id(self.kb.embedding_provider_id or "")
        if found is None or not hasattr(found, "get_embeddings"):
            raise ValueError(texts.KB_NO_EMBEDDING.format(id=self.kb.embedding_provider_id))
        return found

    async def upload_document(
        self,
        file_name: str,
        file_content: bytes | None,
        file_type: str,
        chunk_size: int = 512,
        chunk_overlap: int = 50,
        batch_size: int = 32,
        tasks_limit: int = 3,
        max_retries: int = 3,
        progress_callback: Any = None,
        pre_chunked_text: list[str] | None = None,
    ) -> KBDocument:
        chunks = pre_chunked_text
        if chunks is None:
            if file_type.lower().lstrip(".") not in _TEXTS:
                raise ValueError(f"only texts can be put into a knowledge base here, not {file_type}")
            chunks = cut((file_content or b"").decode("utf-8", "replace"), chunk_size, chunk_overlap)
        chunks = [chunk for chunk in chunks if chunk.strip()]
        if not chunks:
            raise ValueError(f"{file_name} holds no text")
        model, vectors = await self.get_ep(), []
        for start in range(0, len(chunks), batch_size):
            vectors += await model.get_embeddings(chunks[start : start + batch_size])
            if progress_callback:
                await progress_callback("embedding", len(vectors), len(chunks))
        document = KBDocument(
            self.kb.kb_id, file_name, file_type, len(file_content or b""), chunk_count=len(chunks)
        )
        self._shelf.keep_document(document, chunks, vectors)
        await self.refresh_kb()
        return document

    async def list_documents(
        self, offset: int = 0, limit: int = 100, search: str | None = None
    ) -> list[KBDocument]:
        found = [one for one in self._shelf.documents(self.kb.kb_id) if not search or search in one.doc_name]
        return found[offset : offset + limit]

    async def count_documents(self, search: str | None = None) -> int:
        return len(await self.list_documents(0, 1 << 30, search))

    async def get_document(self, doc_id: str) -> KBDocument | None:
        return next((one for one in self._shelf.documents(self.kb.kb_id) if one.doc_id == doc_id), None)

    async def delete_document(self, doc_id: str) -> None:
        self._shelf.remove_document(doc_id)
        await self.refresh_kb()

    async def delete_chunk(self, chunk_id: str, doc_id: str) -> None:
        self._shelf.remove_chunk(chunk_id)
        await self.refresh_kb()

    async def get_chunks_by_doc_id(self, doc_id: str, offset: int = 0, limit: int = 100) -> list[dict]:
        rows = self._shelf.chunks(self.kb.kb_id, doc_id)[offset : offset + limit]
        return [
            {
                "chunk_id": id,
                "doc_id": doc_id,
                "kb_id": self.kb.kb_id,
                "chunk_index": place,
                "content": text,
                "char_count": len(text),
            }
            for id, _, place, text, _ in rows
        ]

    async def get_chunk_count_by_doc_id(self, doc_id: str) -> int:
        return len(self._shelf.chunks(self.kb.kb_id, doc_id))

    async def refresh_kb(self) -> None:
        self.kb.doc_count = len(self._shelf.documents(self.kb.kb_id))
        self.kb.chunk_count = len(self._shelf.chunks(self.kb.kb_id))
        self._shelf.keep_base(self.kb)

    async def search(self, query: str) -> list[RetrievalResult]:
        """By meaning and by words, both rankings added; the score is the likeness of meaning."""
        rows = self._shelf.chunks(self.kb.kb_id)
        if not rows:
            return []
        near = _likeness(rows, await (await self.get_ep()).get_embedding(query))
        dense = sorted(range(len(rows)), key=lambda place: -near[place])[: self.kb.top_k_dense]
        shared = _shared_words([row[3] for row in rows], query)
        sparse = [
            place for place in sorted(range(len(rows)), key=lambda place: -shared[place]) if shared[place]
        ]
        weight: dict[int, float] = {}
        for ranking in (dense, sparse[: self.kb.top_k_sparse]):
            for rank, place in enumerate(ranking):
                weight[place] = weight.get(place, 0.0) + 1 / (_FUSION + rank)
        names = {one.doc_id: one.doc_name for one in self._shelf.documents(self.kb.kb_id)}
        found = []
        for place in sorted(weight, key=lambda place: -weight[place]):
            id, document, index, text, _ = rows[place]
            about = {"chunk_index": index, "char_count": len(text), "fusion": weight[place]}
            name = names.get(document, "")
            found.append(
                RetrievalResult(
                    id, document, name, self.kb.kb_id, self.kb.kb_name, text, float(near[place]), about
                )
            )
        return found


def cut(text: str, size: int, overlap: int) -> list[str]:
    """Pieces of about `size` characters that end where a sentence does, each beginning with the end of the last."""
    pieces, piece = [], ""
    for sentence in re.findall(r"[^。！？.!?\n]*[。！？.!?\n]+|[^。！？.!?\n]+$", text):
        while sentence:
            room = size - len(piece)
            if len(sentence) > room and len(piece) > overlap:
                pieces.append(piece)
                piece = piece[-overlap:] if overlap else ""
                continue
            piece, sentence = piece + sentence[:room], sentence[room:]
            if sentence:
                pieces.append(piece)
                piece = ""
    return [kept for one in (*pieces, piece) if (kept := one.strip())]


def _likeness(rows: list[tuple[str, str, int, str, bytes]], asked: list[float]) -> Any:
    matrix = numpy.stack([numpy.frombuffer(row[4], dtype="float32") for row in rows])
    question = numpy.asarray(asked, dtype="float32")
    lengths = numpy.linalg.norm(matrix, axis=1) * numpy.linalg.norm(question)
    return matrix @ question / numpy.maximum(lengths, 1e-9)


def _shared_words(chunks: list[str], query: str) -> list[float]:
    """How much of the question's words a piece holds, rare ones counting more."""
    import jieba

    wanted = {word.lower() for word in jieba.cut(query) if word.strip()}
    held = [wanted & {word.lower() for word in jieba.cut(chunk)} for chunk in chunks]
    rarity = {word: math.log(1 + len(chunks) / (1 + sum(word in one for one in held))) for word in wanted}
    return [sum(rarity[word] for word in one) for one in held]
