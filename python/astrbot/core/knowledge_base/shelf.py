"""Which knowledge bases there are and what documents they have: one SQLite file of the worker's. Their texts and
vectors are in a folder each."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from astrbot.core.knowledge_base.models import KBDocument, KnowledgeBase
from astrbot.core.utils.astrbot_path import get_astrbot_data_path

_TABLES = """
CREATE TABLE IF NOT EXISTS bases (id TEXT PRIMARY KEY, name TEXT UNIQUE NOT NULL, row TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS documents (id TEXT PRIMARY KEY, base TEXT NOT NULL, row TEXT NOT NULL);
"""


class Shelf:
    def __init__(self) -> None:
        self._file: sqlite3.Connection | None = None

    @property
    def root(self) -> Path:
        return Path(get_astrbot_data_path()) / "knowledge_base"

    def folder(self, base: str) -> Path:
        return self.root / base

    def _open(self) -> sqlite3.Connection:
        if self._file is None:
            self.root.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(self.root / "kb.db", isolation_level=None)
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
        for table, column in (("documents", "base"), ("bases", "id")):
            self._open().execute(f"DELETE FROM {table} WHERE {column} = ?", (id,))
        shutil.rmtree(self.folder(id), ignore_errors=True)

    def documents(self, base: str) -> list[KBDocument]:
        rows = self._open().execute("SELECT row FROM documents WHERE base = ? ORDER BY rowid", (base,))
        return [_read(KBDocument, row) for (row,) in rows]

    def keep_document(self, document: KBDocument) -> None:
        self._open().execute(
            "INSERT INTO documents VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE SET row = ?3",
            (document.doc_id, document.kb_id, _write(document)),
        )

    def remove_document(self, id: str) -> None:
        self._open().execute("DELETE FROM documents WHERE id = ?", (id,))


def _write(row: Any) -> str:
    return json.dumps(asdict(row), default=datetime.isoformat, ensure_ascii=False)


def _read(cls: Any, text: str) -> Any:
    known = {field.name for field in fields(cls)}
    row = {name: value for name, value in json.loads(text).items() if name in known}
    for name in ("created_at", "updated_at"):
        row[name] = datetime.fromisoformat(row[name])
    return cls(**row)
