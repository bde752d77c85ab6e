"""Components that hold a file: by URL, path or base64."""

# Fields are declared by the classes that have them, not by the one whose code they share.
# pyright: reportCallIssue=false, reportIndexIssue=false

from __future__ import annotations

import base64 as _base64
import os
from pathlib import Path
from typing import Any

from astrbot import texts
from astrbot.core import file_token_service as _files
from astrbot.core.message.base import BaseMessageComponent, ComponentType
from astrbot.core.utils import media as _media


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
        # What came with a message lies here; its address may have ended.
        kept = self.path if self.path and os.path.exists(self.path) else None
        source = kept or self.url or self.file
        if not source:
            raise ValueError(texts.NO_SOURCE)
        return source


class _Stream(_Media):
    """Audio and video: the first of file, url and path that leads somewhere."""

    def _source(self) -> str:
        for candidate in (self.path, self.file, self.url):
            if candidate and _media.reachable(candidate):
                return candidate
        raise Exception(texts.NOT_A_FILE.format(source=self.file))


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
            type(self).file.__set__(self, value)
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
