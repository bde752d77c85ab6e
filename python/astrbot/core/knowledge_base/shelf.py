"""Where knowledge bases are kept: one SQLite file of the worker's, vectors as packed floats."""

from __future__ import annotations

import json
import os
import sqlite3
from array import array
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from astrbot.core.knowledge_base.models import KBDocument, KnowledgeBase
from astrbot.core.utils.astrbot_path import get_astrbot_data_path

_TABLES = """
CREATE TABLE IF NOT EXISTS bases (id TEXT PRIMARY KEY, name TEXT UNIQUE NOT NULL, row TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS documents (id TEXT PRIMARY KEY, base TEXT NOT NULL, row TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS chunks (id TEXT PRIMARY KEY, base TEXT NOT NULL, document TEXT NOT NULL,
    place INTEGER NOT NULL, text TEXT NOT NULL, vector BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS chunks_of ON chunks (base, document, place);
"""


class Shelf:
    def __init__(self) -> None:
        self._file: sqlite3.Connection | None = None

    def _open(self) -> sqlite3.Connection:
        if self._file is None:
            folder = os.path.join(get_astrbot_data_path(), "knowledge_base")
            os.makedirs(folder, exist_ok=True)
            self._file = sqlite3.connect(os.path.join(folder, "kb.db"), isolation_level=None)
            self._file.executescript(_TABLES)
        return self._file

    def bases(self) -> list[KnowledgeBase]:
        return [
            _read(KnowledgeBase, row)
            for (row,) in self._open().execute("SELECT row FROM bases ORDER BY rowid")
        ]

    def keep_base(self, base: KnowledgeBase) -> None:
        self._open().execute(
            "INSERT INTO bases VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE SET name = ?2, row = ?3",
            (base.kb_id, base.kb_name, _write(base)),
        )

    def remove_base(self, id: str) -> None:
        for table, column in (("chunks", "base"), ("documents", "base"), ("bases", "id")):
            self._open().execute(f"DELETE FROM {table} WHERE {column} = ?", (id,))

    def documents(self, base: str) -> list[KBDocument]:
        rows = self._open().execute("SELECT row FROM documents WHERE base = ? ORDER BY rowid", (base,))
        return [_read(KBDocument, row) for (row,) in rows]

    def keep_document(self, document: KBDocument, chunks: list[str], vectors: list[list[float]]) -> None:
        """All of it or nothing."""
        file = self._open()
        file.execute("BEGIN")
        with file:
            file.execute(
                "INSERT INTO documents VALUES (?, ?, ?)", (document.doc_id, document.kb_id, _write(document))
            )
            file.executemany(
                "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (
                        f"{document.doc_id}-{place}",
                        document.kb_id,
                        document.doc_id,
                        place,
                        text,
                        array("f", vector).tobytes(),
                    )
                    for place, (text, vector) in enumerate(zip(chunks, vectors))
                ),
            )

    def remove_document(self, id: str) -> None:
        self._open().execute("DELETE FROM chunks WHERE document = ?", (id,))
        self._open().execute("DELETE FROM documents WHERE id = ?", (id,))

    def chunks(self, base: str, document: str | None = None) -> list[tuple[str, str, int, str, bytes]]:
        """(id, document, place, text, vector)"""
        asked = "SELECT id, document, place, text, vector FROM chunks WHERE base = ?"
        if document is None:
            return self._open().execute(f"{asked} ORDER BY rowid", (base,)).fetchall()
        return self._open().execute(f"{asked} AND document = ? ORDER BY place", (base, document)).fetchall()

    def remove_chunk(self, id: str) -> None:
        self._open().execute("DELETE FROM chunks WHERE id = ?", (id,))


def _write(row: Any) -> str:
    return json.dumps(asdict(row), default=datetime.isoformat, ensure_ascii=False)


def _read(cls: Any, text: str) -> Any:
    known = {field.name for field in fields(cls)}
    row = {name: value for name, value in json.loads(text).items() if name in known}
    for name in ("created_at", "updated_at"):
        row[name] = datetime.fromisoformat(row[name])
    return cls(**row)
