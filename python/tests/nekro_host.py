"""A host in memory for tests of the Nekro flavour: rows in lists, messages in lists."""

import tempfile
import textwrap
import unittest
import uuid
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from environments import interpreter
from rig import Rig, StepError

CHAT = "onebot_v11-group_123"

_LOOKUPS: dict[str, Callable[[Any, Any], bool]] = {
    "": lambda a, b: a == b,
    "not": lambda a, b: a != b,
    "in": lambda a, b: a in b,
    "not_in": lambda a, b: a not in b,
    "gt": lambda a, b: a > b,
    "gte": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "lte": lambda a, b: a <= b,
    "contains": lambda a, b: b in a,
    "icontains": lambda a, b: b.lower() in a.lower(),
    "startswith": lambda a, b: a.startswith(b),
    "isnull": lambda a, b: (a is None) == b,
}


class Host:
    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="callgate-nekro-")
        self.root = Path(self._folder.name)
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.sent: list[dict[str, Any]] = []
        self.pushed: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.installed: list[str] = []
        self.timers: dict[str, dict[str, Any]] = {}
        self.answer = "fine"
        self.lent = 0
        for name in ("shared", "uploads"):
            (self.root / name).mkdir()
        self.add("chat_channel", chat_key=CHAT, adapter_key="onebot_v11", channel_id="group_123",
                 channel_type="group", channel_name="Friends", is_active=True, data="{}",
                 conversation_start_time=datetime.fromtimestamp(0, UTC))

    def context(self, role: str = "user", chat_key: str = CHAT, user: str = "42") -> dict[str, Any]:
        platform, _, channel = chat_key.partition("-")
        kind = channel.partition("_")[0]
        return {
            "session": f"{platform}:{'GroupMessage' if kind == 'group' else 'FriendMessage'}:{channel.partition('_')[2]}",
            "chat_key": chat_key,
            "user": {"id": user, "name": "Alice", "nickname": "Al", "role": role},
            "channel": {"id": channel.partition("_")[2], "name": "Friends", "type": kind, "adapter": platform},
            "persona": None,
            "shared": str(self.root / "shared"),
            "uploads": str(self.root / "uploads"),
            "turn": None,
        }

    def add(self, table: str, **row: Any) -> dict[str, Any]:
        rows = self.tables.setdefault(table, [])
        made = {"id": max((it["id"] for it in rows), default=0) + 1, **row}
        rows.append(made)
        return made

    @property
    def methods(self) -> dict[str, Callable[..., Any]]:
        names = (
            "data_get", "data_set", "data_delete", "query", "message_send", "system_push", "model_list",
            "model_chat", "model_embed", "settings_get", "session_folders", "file_fetch", "env_install",
            "timer_set", "timer_list", "timer_cancel", "model_gateway",
        )
        return {name: getattr(self, name) for name in names}

    def _find(self, plugin: str, chat: str, user: str, name: str) -> dict[str, Any] | None:
        wanted = {"plugin_key": plugin, "target_chat_key": chat, "target_user_id": user, "data_key": name}
        rows = self.tables.get("plugin_data", [])
        return next((row for row in rows if all(row[key] == wanted[key] for key in wanted)), None)

    def data_get(self, **place: str) -> str | None:
        found = self._find(**place)
        return found["data_value"] if found else None

    def data_set(self, value: str, **place: str) -> bool:
        found = self._find(**place)
        if found is None:
            self.add("plugin_data", plugin_key=place["plugin"], target_chat_key=place["chat"],
                     target_user_id=place["user"], data_key=place["name"], data_value=value)
            return True
        found["data_value"] = value
        return False

    def data_delete(self, **place: str) -> bool:
        found = self._find(**place)
        if found is not None:
            self.tables["plugin_data"].remove(found)
        return found is not None

    def query(self, model: str, filters: dict[str, Any], excludes: list[dict[str, Any]], order: list[str],
              offset: int, limit: int | None, verb: str, values: dict[str, Any]) -> Any:
        if verb == "create":
            return self.add(model, **values)
        rows = [row for row in self.tables.get(model, []) if _matches(row, filters)]
        rows = [row for row in rows if not any(_matches(row, it) for it in excludes)]
        for column in reversed(order):
            rows.sort(key=lambda row: row[column.lstrip("-")], reverse=column.startswith("-"))
        rows = rows[offset:][:limit]
        if verb == "update":
            for row in rows:
                row |= values
        elif verb == "delete":
            for row in rows:
                self.tables[model].remove(row)
        return rows if verb == "list" else bool(rows) if verb == "exists" else len(rows)

    def message_send(self, session: str, parts: list[dict[str, Any]], record: bool, reference: str | None) -> int:
        self.sent.append({"session": session, "parts": parts, "record": record, "reference": reference})
        return len(self.sent)

    def system_push(self, session: str, text: str, trigger: bool) -> None:
        self.pushed.append({"session": session, "text": text, "trigger": trigger})

    def model_list(self) -> list[dict[str, Any]]:
        return [{"id": "small", "kind": "chat", "vision": True}, {"id": "vectors", "kind": "embedding"}]

    def model_gateway(self) -> dict[str, Any]:
        """A new key each time, so that it shows who asked when."""
        self.lent += 1
        return {"base_url": "http://host/v1", "key": f"key-{self.lent}", "model": "small"}

    def settings_get(self) -> dict[str, Any]:
        return {"super_users": ["1"], "model": "small"}

    async def model_chat(self, model: str, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        self.asked.append({"model": model, **request})
        for piece in (self.answer[:2], self.answer[2:]):
            yield {"text": piece}

    def model_embed(self, model: str, input: list[str], dimensions: int | None) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in input]

    def session_folders(self, session: str) -> dict[str, str]:
        folder = self.root / "others" / session
        return {"shared": str(folder / "shared"), "uploads": str(folder / "uploads")}

    def file_fetch(self, url: str) -> dict[str, Any]:
        return {"name": "x", "media": "image/png", "data": b"\x89PNG\r\n\x1a\n" + url.encode()}

    def timer_set(self, id: str | None = None, cron: str | None = None, timezone: str | None = None, **given: Any) -> str:
        if cron is not None and "#" in cron:
            raise ValueError(f"'{cron}' is no cron expression")
        id = id or str(uuid.uuid4())
        self.timers[id] = {"id": id, "cron": cron, "timezone": timezone, **given}
        return id

    def timer_list(self, name: str, session: str | None = None) -> list[dict[str, Any]]:
        return [it for it in self.timers.values() if it["name"] == name and session in (None, it["session"])]

    def timer_cancel(self, id: str) -> bool:
        return self.timers.pop(id, None) is not None

    def env_install(self, specs: list[str]) -> None:
        self.installed += specs
        raise RuntimeError("no network here")


def _matches(row: dict[str, Any], conditions: dict[str, Any]) -> bool:
    for key, wanted in conditions.items():
        column, _, lookup = key.partition("__")
        value = row.get(column)
        if isinstance(value, datetime) and not isinstance(wanted, (datetime, bool)):
            return False
        if not _LOOKUPS[lookup](value, wanted):
            return False
    return True


HEAD = """
from typing import *
from pydantic import Field
from nekro_agent.api.plugin import *
from nekro_agent.api.schemas import AgentCtx
from nekro_agent.api.signal import MsgSignal
from nekro_agent.api import core, i18n, message, timer
plugin = NekroPlugin("Probe", "probe", "for tests", "1.2.3", "me", "https://example.org")
"""


class Scene(unittest.IsolatedAsyncioTestCase):
    """A worker of the Nekro flavour with the host in memory."""

    async def asyncSetUp(self) -> None:
        self.host = Host()
        self.context = self.host.context()
        self.rig = await self.enterAsyncContext(Rig("nekro", self.host.methods, python=interpreter("nekro")))
        self.folder = self.host.root / "plugins"
        self.folder.mkdir()

    def write(self, name: str, source: str, head: str = HEAD) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + textwrap.dedent(source), encoding="utf-8")
        return path

    async def plugin(self, source: str, name: str = "probe.py", **options: Any) -> dict[str, Any]:
        return await self.rig.load(self.write(name, source), **{"scenario": True, **options})

    async def call(self, method: str, *positional: Any, context: Any = None, plugin: str = "me.probe", **named: Any) -> Any:
        return await self.rig.step(
            "call", plugin=plugin, method=method, positional=list(positional), named=named,
            context=context or self.context,
        )

    async def run_in(self, source: str, plugin: str = "me.probe") -> str:
        return await self.rig.step("run", plugin=plugin, context=self.context, source=textwrap.dedent(source))

    async def type(self, name: str, raw_args: str = "", **context: Any) -> list[list[str]]:
        """A command, as somebody types it: statuses and messages."""
        given = self.host.context(**context)
        steps = self.rig.steps("command", context=given, name=name, raw_args=raw_args)
        return [[step["status"], step["message"]] async for step in steps]

    async def say(self, text: str, **context: Any) -> dict[str, Any]:
        given = {"id": "m1", "text": text, "parts": [{"type": "text", "text": text}], "to_me": True, "time": 5}
        return await self.rig.step("message", context=self.host.context(**context), message=given)


__all__ = ["CHAT", "HEAD", "Host", "Scene", "StepError"]
