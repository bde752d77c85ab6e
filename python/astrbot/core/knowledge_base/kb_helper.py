"""One knowledge base: documents in, the pieces that fit a question out."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from astrbot import logger, texts
from astrbot.core.exceptions import KnowledgeBaseUploadError
from astrbot.core.knowledge_base.models import KBDocument, KnowledgeBase, RetrievalResult
from astrbot.core.knowledge_base.reading import cut, text_of
from astrbot.core.knowledge_base.retrieval.fusion import search
from astrbot.core.knowledge_base.shelf import Shelf
from callgate_worker import host

if TYPE_CHECKING:
    from astrbot.core.db.vec_db.faiss_impl.vec_db import FaissVecDB


class KBHelper:
    vec_db: FaissVecDB

    def __init__(self, shelf: Shelf, kb: KnowledgeBase, provider_manager: Any) -> None:
        self.kb = kb
        self.prov_mgr = provider_manager
        self.init_error: str | None = None
        self.kb_dir = shelf.folder(kb.kb_id)
        self._shelf = shelf

    async def initialize(self) -> None:
        """Opens its files; without its model it cannot be asked."""
        # What it is made of takes a while to import, and most plugins have none.
        from astrbot.core.db.vec_db.faiss_impl.vec_db import FaissVecDB

        if getattr(self, "vec_db", None) is not None:
            return
        self.kb_dir.mkdir(parents=True, exist_ok=True)
        vec_db = FaissVecDB(
            str(self.kb_dir / "doc.db"),
            str(self.kb_dir / "index.faiss"),
            await self.get_ep(),
            await self.get_rp(),
        )
        await vec_db.initialize()
        self.vec_db = vec_db
        self.init_error = None

    async def terminate(self) -> None:
        if getattr(self, "vec_db", None) is not None:
            await self.vec_db.close()
            del self.vec_db

    async def get_ep(self) -> Any:
        found = await self.prov_mgr.get_provider_by_id(self.kb.embedding_provider_id or "")
        if found is None or not hasattr(found, "get_embeddings"):
            raise ValueError(texts.KB_NO_EMBEDDING.format(id=self.kb.embedding_provider_id))
        return found

    async def get_rp(self) -> Any:
        """None where the one that was chosen is not there: then nothing is ranked anew."""
        found = await self.prov_mgr.get_provider_by_id(self.kb.rerank_provider_id or "")
        if self.kb.rerank_provider_id and not hasattr(found, "rerank"):
            logger.warning("there is no model %s to rank with", self.kb.rerank_provider_id)
        return found if hasattr(found, "rerank") else None

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
        """Whole or not at all."""
        await self.initialize()

        async def told(stage: str, done: int, of: int) -> None:
            if progress_callback:
                await progress_callback(stage, done, of)

        if pre_chunked_text is None:
            await told("parsing", 0, 100)
            text = text_of(file_content or b"", file_type, file_name)
            await told("parsing", 100, 100)
            pre_chunked_text = cut(text, chunk_size, chunk_overlap)
        chunks = [chunk.strip() for chunk in pre_chunked_text if chunk and chunk.strip()]
        await told("chunking", 100, 100)
        if not chunks:
            raise KnowledgeBaseUploadError(stage="chunking", user_message=f"{file_name} holds no text")
        size = len(file_content) if file_content else sum(map(len, chunks))
        document = KBDocument(self.kb.kb_id, file_name, file_type, size, chunk_count=len(chunks))
        about = {"kb_id": self.kb.kb_id, "kb_doc_id": document.doc_id}
        title = PurePath(file_name).stem.strip()
        await self.vec_db.insert_batch(
            chunks,
            [{**about, "chunk_index": place} for place in range(len(chunks))],
            batch_size=batch_size,
            tasks_limit=tasks_limit,
            max_retries=max_retries,
            progress_callback=lambda done, of: told("embedding", done, of),
            # A piece alone often does not say what it is about.
            embedding_contents=[f"{title}\n\n{chunk}" for chunk in chunks] if title else None,
        )
        self._shelf.keep_document(document)
        await self.refresh_kb()
        return document

    async def upload_from_url(self, url: str, **options: Any) -> KBDocument:
        """The page is fetched by the host, and its text kept."""
        for unused in ("enable_cleaning", "cleaning_provider_id"):
            options.pop(unused, None)
        fetched = await host.call("file_fetch", url=url)
        media = (fetched.get("media") or "").partition(";")[0]
        kind = {"text/html": "html", "application/pdf": "pdf", "application/epub+zip": "epub"}.get(media, "txt")
        return await self.upload_document(url, fetched["data"], kind, **options)

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
        await self.initialize()
        self._shelf.remove_document(doc_id)
        await self.vec_db.delete_documents({"kb_doc_id": doc_id})
        await self.refresh_kb()

    async def delete_chunk(self, chunk_id: str, doc_id: str) -> None:
        await self.initialize()
        await self.vec_db.delete(chunk_id)
        await self.refresh_kb()
        await self.refresh_document(doc_id)

    async def get_chunks_by_doc_id(self, doc_id: str, offset: int = 0, limit: int = 100) -> list[dict]:
        await self.initialize()
        storage = self.vec_db.document_storage
        rows = await storage.get_documents({"kb_doc_id": doc_id}, offset=offset, limit=limit)
        return [
            {
                "chunk_id": row["doc_id"],
                "doc_id": doc_id,
                "kb_id": self.kb.kb_id,
                "chunk_index": json.loads(row["metadata"])["chunk_index"],
                "content": row["text"],
                "char_count": len(row["text"]),
            }
            for row in rows
        ]

    async def get_chunk_count_by_doc_id(self, doc_id: str) -> int:
        await self.initialize()
        return await self.vec_db.count_documents({"kb_doc_id": doc_id})

    async def refresh_kb(self) -> None:
        self.kb.doc_count = len(self._shelf.documents(self.kb.kb_id))
        self.kb.chunk_count = await self.vec_db.count_documents()
        self._shelf.keep_base(self.kb)

    async def refresh_document(self, doc_id: str) -> None:
        if (document := await self.get_document(doc_id)) is None:
            raise ValueError(f"there is no document {doc_id}")
        document.chunk_count = await self.get_chunk_count_by_doc_id(doc_id)
        self._shelf.keep_document(document)

    async def search(self, query: str) -> list[RetrievalResult]:
        await self.initialize()
        names = {one.doc_id: one.doc_name for one in self._shelf.documents(self.kb.kb_id)}
        return await search(self.kb, self.vec_db, names, query)
