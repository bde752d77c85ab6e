"""Pieces of a message as plugins build and read them.

Compat(astrbot): models of pydantic's v1 API, because plugins rely on its coercion (`Plain(text=3)`,
`At(qq="7").qq == 7`), on silently ignored extra fields and on `.dict()`."""

from __future__ import annotations

import base64 as _base64
import json as _json
import os
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic.v1 import BaseModel

from astrbot import texts
from astrbot.core import file_token_service as _files
from astrbot.core.utils import media as _media


class ComponentType(str, Enum):
    Plain = "Plain"
    Image = "Image"
    Record = "Record"
    Video = "Video"
    File = "File"
    Face = "Face"
    At = "At"
    Node = "Node"
    Nodes = "Nodes"
    Poke = "Poke"
    Reply = "Reply"
    Forward = "Forward"
    RPS = "RPS"
    Dice = "Dice"
    Shake = "Shake"
    Share = "Share"
    Contact = "Contact"
    Location = "Location"
    Music = "Music"
    Json = "Json"
    Unknown = "Unknown"


class BaseMessageComponent(BaseModel):
    type: ComponentType

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, _short(value)

    def toDict(self) -> dict:
        data = {
            ("type" if name == "_type" else name): value
            for name, value in self.__dict__.items()
            if name != "type" and value is not None
        }
        return {"type": self.type.lower(), "data": data}

    async def to_dict(self) -> dict:
        return self.toDict()


def _short(value: Any) -> Any:
    """Keeps base64 bodies out of logs and tracebacks."""
    if not isinstance(value, str):
        return value
    if value.startswith("base64://"):
        return f"base64://<{len(value) - 9} chars>"
    return value if len(value) <= 64 else f"{value[:64]}...<{len(value)} chars>"


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


class _Media(BaseMessageComponent):
    """What image, audio and video share: a source that may be a URL, a file or base64."""

    def _source(self) -> str:
        raise NotImplementedError

    async def convert_to_file_path(self) -> str:
        return await _media.to_path(self._source(), suffix=self._suffix())

    async def convert_to_base64(self) -> str:
        return await _media.to_base64(self._source())

    async def register_to_file_service(self) -> str:
        return await _files.url_of(await self.convert_to_file_path())

    def _suffix(self) -> str:
        return {"Record": ".wav", "Video": ".mp4"}.get(self.type.value, ".jpg")

    @classmethod
    def _of_url(cls, url: str, **fields: Any):
        if not url.startswith(("http://", "https://")):
            raise Exception(texts.NOT_A_URL)
        return cls(file=url, **fields)

    @classmethod
    def _of_path(cls, path: str | os.PathLike, **fields: Any):
        resolved = Path(path).resolve(strict=False)
        return cls(file=resolved.as_uri(), path=str(resolved), **fields)


class Image(_Media):
    type: ComponentType = ComponentType.Image
    file: str | None = ""
    _type: str | None = ""
    url: str | None = ""
    path: str | None = ""

    def __init__(self, file: str | None, **fields: Any) -> None:
        super().__init__(file=file, **fields)

    @staticmethod
    def fromURL(url: str, **fields: Any) -> Image:
        return Image._of_url(url, **fields)

    @staticmethod
    def fromFileSystem(path: str | os.PathLike, **fields: Any) -> Image:
        return Image._of_path(path, **fields)

    @staticmethod
    def fromBase64(base64: str, **fields: Any) -> Image:
        return Image(f"base64://{base64}", **fields)

    @staticmethod
    def fromBytes(byte: bytes) -> Image:
        return Image.fromBase64(_base64.b64encode(byte).decode())

    @staticmethod
    def fromIO(IO: Any) -> Image:
        return Image.fromBytes(IO.read())

    def _source(self) -> str:
        source = self.url or self.file
        if not source:
            raise ValueError("No valid file or URL provided")
        return source


class _Stream(_Media):
    """Audio and video: the first of file, url and path that leads somewhere."""

    def _source(self) -> str:
        for candidate in (self.file, self.url, self.path):
            if candidate and _media.reachable(candidate):
                return candidate
        raise Exception(f"not a valid file: {self.file}")


class Record(_Stream):
    type: ComponentType = ComponentType.Record
    file: str | None = ""
    url: str | None = ""
    text: str | None = None
    path: str | None = None

    def __init__(self, file: str | None, **fields: Any) -> None:
        super().__init__(file=file, **fields)

    @staticmethod
    def fromURL(url: str, **fields: Any) -> Record:
        return Record._of_url(url, **fields)

    @staticmethod
    def fromFileSystem(path: str | os.PathLike, **fields: Any) -> Record:
        return Record._of_path(path, **fields)

    @staticmethod
    def fromBase64(bs64_data: str, **fields: Any) -> Record:
        return Record(file=f"base64://{bs64_data}", **fields)


class Video(_Stream):
    type: ComponentType = ComponentType.Video
    file: str
    url: str | None = ""
    cover: str | None = ""
    path: str | None = ""

    def __init__(self, file: str, **fields: Any) -> None:
        super().__init__(file=file, **fields)

    @staticmethod
    def fromURL(url: str, **fields: Any) -> Video:
        return Video._of_url(url, **fields)

    @staticmethod
    def fromFileSystem(path: str | os.PathLike, **fields: Any) -> Video:
        return Video._of_path(path, **fields)

    @staticmethod
    def fromBase64(base64_data: str, **fields: Any) -> Video:
        return Video(file=f"base64://{base64_data}", **fields)

    async def to_dict(self) -> dict:
        return {"type": "video", "data": {"file": self.file}}


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
        super().__init__(_type="126" if chosen in (None, "", "poke", "Poke") else str(chosen), **fields)

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
        super().__init__(data=_json.loads(data) if isinstance(data, str) else data, **fields)


class Unknown(BaseMessageComponent):
    type: ComponentType = ComponentType.Unknown
    text: str


class File(BaseMessageComponent):
    type: ComponentType = ComponentType.File
    name: str | None = ""
    file_: str | None = ""
    url: str | None = ""

    def __init__(self, name: str, file: str = "", url: str = "") -> None:
        super().__init__(name=name, file_=file, url=url)

    @property
    def file(self) -> str:
        """The local path, or "" while only a URL is known: use `get_file`, which downloads."""
        if self.file_:
            path = _media.local(self.file_)
            if path and os.path.exists(path):
                return os.path.abspath(path)
        return ""

    @file.setter
    def file(self, value: str) -> None:
        name = "url" if value.startswith(("http://", "https://")) else "file_"
        object.__setattr__(self, name, value)
        self.__dict__[name] = value

    def __setattr__(self, name: str, value: Any) -> None:
        # Compat(astrbot): `component.file = path` is used by plugins; pydantic v1 knows no setters.
        if name == "file":
            File.file.fset(self, value)
        else:
            super().__setattr__(name, value)

    async def get_file(self, allow_return_url: bool = False) -> str:
        if allow_return_url and self.url:
            return self.url
        if self.file:
            return self.file
        if self.url:
            self.file_ = await _media.to_path(self.url, suffix=Path(self.name or "").suffix)
            return self.file_
        return ""

    async def register_to_file_service(self) -> str:
        return await _files.url_of(await self.get_file())

    async def to_dict(self) -> dict:
        return {
            "type": "file",
            "data": {"name": self.name, "file": await self.get_file(allow_return_url=True)},
        }


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
