"""The texts of a vector store and what is known of them: a table of a SQLite file of the plugin's own.

Compat(astrbot): plugins query the table `documents` by themselves, so that its name and columns are upstream's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from astrbot.core.knowledge_base.retrieval.tokenizer import build_fts5_or_query, to_fts5_search_text

FTS_TABLE_NAME = "documents_fts"
_TABLES = f"""
CREATE TABLE IF NOT EXISTS documents (id INTEGER PRIMARY KEY AUTOINCREMENT, doc_id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL, metadata TEXT, created_at TEXT, updated_at TEXT,
    kb_doc_id TEXT GENERATED ALWAYS AS (json_extract(metadata, '$.kb_doc_id')) STORED,
    user_id TEXT GENERATED ALWAYS AS (json_extract(metadata, '$.user_id')) STORED);
CREATE INDEX IF NOT EXISTS idx_documents_kb_doc_id ON documents(kb_doc_id);
CREATE INDEX IF NOT EXISTS idx_documents_user_id ON documents(user_id);
CREATE VIRTUAL TABLE IF NOT EXISTS {FTS_TABLE_NAME} USING fts5(search_text)
"""
_COLUMNS = "id, doc_id, text, metadata, created_at, updated_at"


class DocumentStorage:
    def __init__(self, db_path: str) -> None:
        self.db_path = db_path
        self.engine: AsyncEngine | None = None
        self.async_session_maker: Any = None
        self.fts5_available = True
        self.stopwords: set[str] = set()

    async def initialize(self) -> None:
        engine = await self.connect()
        async with engine.begin() as connection:
            for statement in _TABLES.split(";\n"):
                await connection.execute(text(statement))

    async def connect(self) -> AsyncEngine:
        if self.engine is None:
            self.engine = create_async_engine(f"sqlite+aiosqlite:///{self.db_path}")
            self.async_session_maker = async_sessionmaker(self.engine, expire_on_commit=False)
        return self.engine

    @asynccontextmanager
    async def get_session(self) -> AsyncIterator[AsyncSession]:
        async with self.async_session_maker() as session:
            yield session

    async def get_documents(
        self,
        metadata_filters: dict,
        ids: list | None = None,
        offset: int | None = 0,
        limit: int | None = 100,
    ) -> list[dict]:
        where, given = _where(metadata_filters)
        wanted = [int(id) for id in ids if id != -1] if ids is not None else []
        if wanted:
            where += " AND id IN :ids"
            given["ids"] = wanted
        asked = text(f"SELECT {_COLUMNS} FROM documents WHERE {where} ORDER BY id LIMIT :limit OFFSET :offset")
        if wanted:
            asked = asked.bindparams(bindparam("ids", expanding=True))
        given |= {"limit": -1 if limit is None else limit, "offset": offset or 0}
        return await self._rows(asked, given)

    async def get_document_by_doc_id(self, doc_id: str) -> dict | None:
        asked = text(f"SELECT {_COLUMNS} FROM documents WHERE doc_id = :doc_id")
        return next(iter(await self._rows(asked, {"doc_id": doc_id})), None)

    async def _rows(self, asked: Any, given: dict[str, Any]) -> list[dict]:
        async with self.get_session() as session:
            return [dict(row) for row in (await session.execute(asked, given)).mappings()]

    async def insert_document(self, doc_id: str, text: str, metadata: dict) -> int:
        return (await self.insert_documents_batch([doc_id], [text], [metadata]))[0]

    async def insert_documents_batch(
        self, doc_ids: list[str], texts: list[str], metadatas: list[dict]
    ) -> list[int]:
        """All of them or none."""
        now, numbers = datetime.now().isoformat(), []
        row = text(
            "INSERT INTO documents (doc_id, text, metadata, created_at, updated_at)"
            " VALUES (:doc_id, :text, :metadata, :now, :now) RETURNING id"
        )
        found = text(f"INSERT INTO {FTS_TABLE_NAME} (rowid, search_text) VALUES (:id, :words)")
        words = [await self._words(content) for content in texts]
        async with self.get_session() as session, session.begin():
            for doc_id, content, metadata, searched in zip(doc_ids, texts, metadatas, words, strict=True):
                given = {"doc_id": doc_id, "text": content, "metadata": json.dumps(metadata), "now": now}
                numbers.append((await session.execute(row, given)).scalar_one())
                await session.execute(found, {"id": numbers[-1], "words": searched})
        return numbers

    async def _words(self, content: str) -> str:
        """In a thread: the first time, a dictionary of seconds is read."""
        return await asyncio.to_thread(to_fts5_search_text, content, self.stopwords)

    async def update_document_by_doc_id(self, doc_id: str, new_text: str) -> None:
        words = await self._words(new_text)
        given = {"doc_id": doc_id, "text": new_text, "words": words, "now": datetime.now().isoformat()}
        async with self.get_session() as session, session.begin():
            changed = text("UPDATE documents SET text = :text, updated_at = :now WHERE doc_id = :doc_id")
            await session.execute(changed, given)
            found = text(
                f"UPDATE {FTS_TABLE_NAME} SET search_text = :words"
                " WHERE rowid = (SELECT id FROM documents WHERE doc_id = :doc_id)"
            )
            await session.execute(found, given)

    async def delete_document_by_doc_id(self, doc_id: str) -> None:
        await self._delete("doc_id = :doc_id", {"doc_id": doc_id})

    async def delete_documents(self, metadata_filters: dict) -> None:
        await self._delete(*_where(metadata_filters))

    async def _delete(self, where: str, given: dict[str, Any]) -> None:
        async with self.get_session() as session, session.begin():
            rows = f"SELECT id FROM documents WHERE {where}"
            await session.execute(text(f"DELETE FROM {FTS_TABLE_NAME} WHERE rowid IN ({rows})"), given)
            await session.execute(text(f"DELETE FROM documents WHERE {where}"), given)

    async def count_documents(self, metadata_filters: dict | None = None) -> int:
        where, given = _where(metadata_filters or {})
        asked = text(f"SELECT count(*) AS count FROM documents WHERE {where}")
        return (await self._rows(asked, given))[0]["count"]

    async def search_sparse(self, query_tokens: list[str], limit: int) -> list[dict]:
        """By words, the best first; a lower score is a better one."""
        if limit <= 0 or not (query := build_fts5_or_query(query_tokens)):
            return []
        columns = ", ".join(f"d.{column}" for column in _COLUMNS.split(", "))
        asked = text(
            f"SELECT {columns}, bm25({FTS_TABLE_NAME}) AS score FROM {FTS_TABLE_NAME}"
            f" JOIN documents d ON d.id = {FTS_TABLE_NAME}.rowid WHERE {FTS_TABLE_NAME} MATCH :query"
            " ORDER BY score, d.id LIMIT :limit"
        )
        return await self._rows(asked, {"query": query, "limit": limit})

    async def get_user_ids(self) -> list[str]:
        asked = text("SELECT DISTINCT user_id FROM documents WHERE user_id IS NOT NULL")
        return [row["user_id"] for row in await self._rows(asked, {})]

    async def close(self) -> None:
        if self.engine is not None:
            await self.engine.dispose()
            self.engine = self.async_session_maker = None


def _where(metadata_filters: dict) -> tuple[str, dict[str, Any]]:
    """Names are bound like values: they come from plugins, and theirs from anywhere."""
    given: dict[str, Any] = {}
    conditions = ["TRUE"]
    for place, (name, value) in enumerate(metadata_filters.items()):
        given |= {f"path_{place}": f'$."{name}"', f"value_{place}": value}
        conditions.append(f"json_extract(metadata, :path_{place}) = :value_{place}")
    return " AND ".join(conditions), given
