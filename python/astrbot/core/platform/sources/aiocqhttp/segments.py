"""OneBot's segments as components.

Compat(astrbot): texts that follow each other are one, without the space around them; values are what pydantic makes of
them (`At(qq="7").qq == 7`); what no component can be made of is left out, and the rest of the message stays."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiocqhttp import Message

from astrbot.core.message import components as kinds
from astrbot.core.message.base import BaseMessageComponent

logger = logging.getLogger("astrbot")

Ask = Callable[..., Awaitable[Any]]

_EVERYBODY = "全体成员"
# The component's own `type` is another one.
_FILES = ("image", "mface", "record", "video", "file")
_HAVE_A_TYPE = ("contact", "music", "image", "record", "video")


@dataclass
class Content:
    chain: list[BaseMessageComponent] = field(default_factory=list)
    text: str = ""


@dataclass
class Found:
    """What the host knows of the segments already: the names of people who are mentioned, and where it has put the
    files, in their order."""

    names: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)

    @staticmethod
    def of(parts: list[dict[str, Any]]) -> Found:
        names = {part["id"]: part.get("name") or "" for part in parts if part["type"] == "mention"}
        return Found(names, [part["url"] for part in parts if part["type"] in ("image", "audio", "video", "file")])


@dataclass
class Reading:
    """`ask` calls an action and gives None where that fails."""

    ask: Ask
    self_id: str
    group_id: str
    found: Found = field(default_factory=Found)
    quotes: bool = True

    async def content(self, message: Any) -> Content:
        read, files = Content(), iter(self.found.files)
        for kind, group in itertools.groupby(_segments(message), key=lambda segment: segment["type"]):
            run = [segment.get("data") or {} for segment in group]
            if kind == "text":
                text = "".join(str(data.get("text") or "") for data in run).strip()
                if text:
                    read.chain.append(kinds.Plain(text))
                    read.text += text
                continue
            unnamed = False
            for data in run:
                kept = next(files, "") if kind in _FILES else ""
                try:
                    made = await self._component(kind, data)
                except Exception as error:
                    logger.debug("a segment of kind %s is left out: %s", kind, error)
                    continue
                if made is None:
                    continue
                read.chain.append(made)
                if kept.startswith("/"):
                    setattr(made, "file_" if kind == "file" else "path", kept)
                if isinstance(made, kinds.Plain):
                    read.text += made.text
                elif isinstance(made, kinds.At) and made.qq != "all":
                    # Compat(astrbot): that the bot is called is not part of what is said to it.
                    if str(made.qq) == self.self_id and not unnamed:
                        unnamed = True
                    else:
                        read.text += f" @{made.name}({made.qq}) "
        return read

    async def _component(self, kind: str, data: dict[str, Any]) -> BaseMessageComponent | None:
        match kind:
            case "markdown":
                return kinds.Plain(data.get("markdown") or data["content"])
            case "at":
                who = str(data["qq"])
                return kinds.At(qq=who, name=_EVERYBODY if who == "all" else self.found.names.get(who, ""))
            case "reply":
                return await self._reply(str(data["id"]))
            case "file":
                return await self._file(data)
            case "json":
                return kinds.Json(data["data"])
            case "node" | "nodes" | "unknown" | "plain":
                return None
        if kind not in kinds.ComponentTypes:
            return None
        if kind in _HAVE_A_TYPE:
            data = {("_type" if name == "type" else name): value for name, value in data.items()}
        return kinds.ComponentTypes[kind](**data)

    async def _reply(self, id: str) -> kinds.Reply:
        said = await self.ask("get_msg", message_id=_number(id)) if self.quotes else None
        if not isinstance(said, dict):
            return kinds.Reply(id=id)
        inner = Reading(self.ask, self.self_id, self.group_id, Found(self.found.names), quotes=False)
        content = await inner.content(said.get("message"))
        sender = said.get("sender") or {}
        return kinds.Reply(
            id=id,
            chain=content.chain,
            sender_id=sender.get("user_id"),
            sender_nickname=sender.get("card") or sender.get("nickname") or "",
            time=said.get("time") or 0,
            message_str=content.text,
            text=content.text,
            qq=sender.get("user_id"),
        )

    async def _file(self, data: dict[str, Any]) -> kinds.File | None:
        name = data.get("file_name") or data.get("name") or data.get("file") or "file"
        url = data.get("url") or ""
        if not url.startswith("http"):
            where = {"group_id": _number(self.group_id)} if self.group_id else {}
            action = "get_group_file_url" if self.group_id else "get_private_file_url"
            told = await self.ask(action, file_id=data["file_id"], **where) or {}
            name, url = told.get("file_name") or told.get("name") or name, told.get("url")
        return kinds.File(name=name, url=url) if url else None


def _segments(message: Any) -> list[dict[str, Any]]:
    """Also of a message that is a text with CQ codes."""
    if isinstance(message, str):
        return list(Message(message))
    given = [message] if isinstance(message, dict) else message or []
    return [segment for segment in given if isinstance(segment, dict) and isinstance(segment.get("type"), str)]


def _number(id: str) -> int | str:
    return int(id) if id.lstrip("-").isdigit() else id
