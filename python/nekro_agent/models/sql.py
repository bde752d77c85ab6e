"""Statements in SQL, which a few plugins write past the models. The host's database is closed to them:
what they read is put together anew for each statement, and nothing can be written.
"""

import re
import sqlite3
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from nekro_agent.models.db_chat_channel import DBChatChannel
from nekro_agent.models.db_chat_message import DBChatMessage
from nekro_agent.models.db_exec_code import DBExecCode
from nekro_agent.models.db_plugin_data import DBPluginData
from nekro_agent.models.db_preset import DBPreset
from nekro_agent.models.db_user import DBUser
from nekro_agent.models.errors import OperationalError, error
from nekro_agent.models.model import Model

# Compat(nekro): upstream's names of the tables.
_TABLES: dict[str, type[Model]] = {
    "chat_message": DBChatMessage, "chat_channel": DBChatChannel, "presets": DBPreset, "user": DBUser,
    "plugin_data": DBPluginData, "exec_code": DBExecCode,
}
_MOST_ROWS = 50_000
_PLACE = re.compile(r"\$(\d+)")
_READS = re.compile(r"\s*(select|with)\b", re.IGNORECASE)


class Connection:
    """What `Tortoise.get_connection` gives."""

    async def execute_query_dict(self, query: str, values: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        if not _READS.match(query):
            raise error(OperationalError, "plugins can only read with SQL; change rows by their models")
        database = sqlite3.connect(":memory:")
        database.row_factory = sqlite3.Row
        try:
            for name, model in _TABLES.items():
                if re.search(rf"\b{name}\b", query, re.IGNORECASE):
                    await _fill(database, name, model)
            found = database.execute(_PLACE.sub(r"?\1", query), [_plain(it) for it in values or ()])
            return [dict(row) for row in found]
        except sqlite3.Error as problem:
            raise error(OperationalError, str(problem)) from problem
        finally:
            database.close()

    async def execute_query(
        self, query: str, values: Sequence[Any] | None = None
    ) -> tuple[int, list[dict[str, Any]]]:
        rows = await self.execute_query_dict(query, values)
        return len(rows), rows


async def _fill(database: sqlite3.Connection, name: str, model: type[Model]) -> None:
    columns = list(model.COLUMNS)
    listed = ", ".join(f'"{column}"' for column in columns)
    database.execute(f'CREATE TABLE "{name}" ({listed})')
    rows = await model.all().order_by("-id").limit(_MOST_ROWS).values(*columns)
    places = ", ".join("?" * len(columns))
    values = [[_plain(row[column]) for column in columns] for row in rows]
    database.executemany(f'INSERT INTO "{name}" VALUES ({places})', values)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return value if value is None or isinstance(value, (int, float, str, bytes)) else str(value)


def offer() -> None:
    """Tortoise itself is there for its names alone: its connections are ours."""
    tortoise = sys.modules.get("tortoise")
    if tortoise is None:
        import tortoise
    tortoise.connections.get = lambda name="default": Connection()
