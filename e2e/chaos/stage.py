"""One engine with its instances, and everybody who takes part: what a run of chaos happens on."""

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .instance import Instance
from .line import Line
from .model import Model
from .postgres import Postgres
from .witness import Witness

DATABASE = "chaos"
# Seconds until others take over from an instance that is gone.
TERM = 4

_SETTINGS = """
[approval]
ask = ["mcp:witness/guarded"]
wait_seconds = 3

[agent]
debounce_ms = 50
history_tokens = 1000000

[models]
default = "first"
"""


@dataclass
class Shared:
    """PostgreSQL and the line to it."""

    postgres: Postgres
    line: Line


class Stage:
    def __init__(self, binary: str, folder: Path, seed: int):
        self.binary = binary
        self.folder = folder
        self.model = Model(seed)
        self.witness = Witness()
        self.shared: Shared | None = None
        self.instances: list[Instance] = []
        self.key = ""

    async def set(self, engine: str, instances: int) -> None:
        await self.model.server.start()
        await self.witness.server.start()
        if engine == "postgres":
            postgres = Postgres(self.folder / "postgres")
            await postgres.start()
            await postgres.create(DATABASE)
            line = Line(postgres.port)
            await line.start()
            self.shared = Shared(postgres, line)
        self.instances = [self.add_instance() for _ in range(instances)]
        self.key = await self.instances[0].make_key()
        for instance in self.instances:
            await instance.start_again()
        for instance in self.instances:
            await instance.settle(self.key)

    def add_instance(self) -> Instance:
        number = len(list(self.folder.glob("instance-*")))
        return Instance(self.binary, self.folder / f"instance-{number}", self.configuration())

    def configuration(self) -> str:
        database = f"[database]\ntakeover_seconds = {TERM}\n"
        if self.shared:
            database += f'url = "postgres://callgate@127.0.0.1:{self.shared.line.port}/{DATABASE}"\n'
        return database + _SETTINGS + self.model.configuration() + self.witness.configuration()

    async def clear(self) -> None:
        for instance in self.instances:
            await instance.kill()
        if self.shared:
            await self.shared.postgres.stop_at_once()

    async def rows(self, sql: str) -> list[dict[str, Any]]:
        """`{hex:column}` is written as each engine writes bytes."""
        if self.shared:
            return await self.shared.postgres.rows(DATABASE, _spelled(sql, "encode({}, 'hex')"))
        with sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=30) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(_spelled(sql, "lower(hex({}))"))]

    async def execute(self, sql: str) -> None:
        if self.shared:
            await self.shared.postgres.execute(DATABASE, sql)
            return
        with sqlite3.connect(self.file, timeout=30) as database:
            database.execute(sql)

    @property
    def file(self) -> Path:
        return self.instances[0].data / "callgate.db"


def _spelled(sql: str, hexadecimal: str) -> str:
    head, *rest = sql.split("{hex:")
    for piece in rest:
        column, _, tail = piece.partition("}")
        head += hexadecimal.format(column) + tail
    return head


def text_of(parts: str) -> str:
    """Of a stored message."""
    return "\n".join(part.get("text", "") for part in json.loads(parts))
