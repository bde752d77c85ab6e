"""Pieces of a message as plugins build and read them.

Compat(astrbot): there is no `__all__`, and modules are imported that only plugins use: `import *` hands them out
upstream, and plugins rely on it."""

from __future__ import annotations

import asyncio  # noqa: F401
import base64  # noqa: F401
import json
import os  # noqa: F401
import sys  # noqa: F401
import uuid  # noqa: F401
from enum import Enum  # noqa: F401
from pathlib import Path  # noqa: F401
from typing import Any

from astrbot import logger  # noqa: F401
from astrbot.core.message.base import BaseMessageComponent, ComponentType
from astrbot.core.message.files import File, Image, Record, Video


class Plain(BaseMessageComponent):
    type: ComponentType = ComponentType.Plain
    text: str

    def __init__(self, text: str, convert: bool = True, **fields: Any) -> None:
        super().__init__(text=text, convert=convert, **fields)

    def toDict(self) -> dict:
        return {"type": "text", "data": {"text": self.text}}


class Face(BaseMessageComponent):
    type: ComponentType = ComponentType.Face
    id: int


class At(BaseMessageComponent):
    type: ComponentType = ComponentType.At
    qq: int | str
    name: str | None = ""

    def toDict(self) -> dict:
        return {"type": "at", "data": {"qq": str(self.qq)}}


class AtAll(At):
    qq: str = "all"


class RPS(BaseMessageComponent):
    type: ComponentType = ComponentType.RPS


class Dice(BaseMessageComponent):
    type: ComponentType = ComponentType.Dice


class Shake(BaseMessageComponent):
    type: ComponentType = ComponentType.Shake


class Share(BaseMessageComponent):
    type: ComponentType = ComponentType.Share
    url: str
    title: str
    content: str | None = ""
    image: str | None = ""


class Contact(BaseMessageComponent):
    type: ComponentType = ComponentType.Contact
    _type: str
    id: int | None = 0


class Location(BaseMessageComponent):
    type: ComponentType = ComponentType.Location
    lat: float
    lon: float
    title: str | None = ""
    content: str | None = ""


class Music(BaseMessageComponent):
    type: ComponentType = ComponentType.Music
    _type: str
    id: int | None = 0
    url: str | None = ""
    audio: str | None = ""
    title: str | None = ""
    content: str | None = ""
    image: str | None = ""


class Reply(BaseMessageComponent):
    type: ComponentType = ComponentType.Reply
    id: str | int
    chain: list[BaseMessageComponent] | None = []
    sender_id: int | None | str = 0
    sender_nickname: str | None = ""
    time: int | None = 0
    message_str: str | None = ""
    text: str | None = ""
    qq: int | None = 0
    seq: int | None = 0

    def toDict(self) -> dict:
        return {"type": "reply", "data": {"id": str(self.id)}}


class Poke(BaseMessageComponent):
    type: ComponentType = ComponentType.Poke
    _type: str | int = "126"
    id: int | str | None = 0
    qq: int | str | None = 0

    def __init__(self, poke_type: str | int | None = None, **fields: Any) -> None:
        legacy = fields.pop("type", None)
        chosen = poke_type if poke_type is not None else legacy
        if chosen not in (None, "", "poke", "Poke"):
            fields["_type"] = str(chosen)
        super().__init__(**fields)

    def target_id(self) -> str | None:
        for value in (self.id, self.qq):
            text = "" if value is None else str(value).strip()
            if text and text != "0":
                return text
        return None

    def toDict(self) -> dict:
        data = {"type": str(self._type or "126")}
        if target := self.target_id():
            data["id"] = target
        return {"type": "poke", "data": data}


class Forward(BaseMessageComponent):
    type: ComponentType = ComponentType.Forward
    id: str


class Node(BaseMessageComponent):
    type: ComponentType = ComponentType.Node
    id: int | None = 0
    name: str | None = ""
    uin: str | None = "0"
    content: list[BaseMessageComponent] = []
    seq: str | list | None = ""
    time: int | None = 0

    def __init__(self, content: list[BaseMessageComponent], **fields: Any) -> None:
        super().__init__(content=[content] if isinstance(content, Node) else content, **fields)

    async def to_dict(self) -> dict:
        content = []
        for part in self.content:
            if isinstance(part, Image | Record):
                data = await part.convert_to_base64()
                content.append({"type": part.type.lower(), "data": {"file": f"base64://{data}"}})
            else:
                content.append(await part.to_dict())
        return {
            "type": "node",
            "data": {"user_id": str(self.uin), "nickname": self.name, "content": content},
        }


class Nodes(BaseMessageComponent):
    type: ComponentType = ComponentType.Nodes
    nodes: list[Node]

    def __init__(self, nodes: list[Node], **fields: Any) -> None:
        super().__init__(nodes=nodes, **fields)

    def toDict(self) -> dict:
        return {"messages": [node.toDict() for node in self.nodes]}

    async def to_dict(self) -> dict:
        return {"messages": [await node.to_dict() for node in self.nodes]}


class Json(BaseMessageComponent):
    type: ComponentType = ComponentType.Json
    data: dict

    def __init__(self, data: str | dict, **fields: Any) -> None:
        super().__init__(data=json.loads(data) if isinstance(data, str) else data, **fields)


class Unknown(BaseMessageComponent):
    type: ComponentType = ComponentType.Unknown
    text: str


ComponentTypes = {
    "plain": Plain,
    "text": Plain,
    **{
        kind.__name__.lower(): kind
        for kind in (
            Image,
            Record,
            Video,
            File,
            Face,
            At,
            RPS,
            Dice,
            Shake,
            Share,
            Contact,
            Location,
            Music,
            Reply,
            Poke,
            Forward,
            Node,
            Nodes,
            Json,
            Unknown,
        )
    },
}
