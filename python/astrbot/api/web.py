"""Requests and responses for plugins' web routes.

Built on Quart, whose `quart.request` the same handlers may use as well; the worker serves both."""

from __future__ import annotations

import contextvars
import json
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, KeysView
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

# Compat(astrbot): its module lets these through, and plugins build on them.
from fastapi.encoders import jsonable_encoder  # noqa: F401
from fastapi.responses import FileResponse, JSONResponse, StreamingResponse  # noqa: F401
from quart import Response

from astrbot import texts

Value = TypeVar("Value")


class PluginMultiDict(Generic[Value]):
    """Values by key, several per key in request order; a single one is the last."""

    def __init__(self, pairs: list[tuple[str, Value]]) -> None:
        self._pairs = pairs

    def get(self, key: str, default: Any = None, type: Callable[[Value], Any] | None = None) -> Any:
        found = self.getlist(key)
        if not found:
            return default
        if type is None:
            return found[-1]
        try:
            return type(found[-1])
        except (TypeError, ValueError):
            return default

    def getlist(self, key: str) -> list[Value]:
        return [value for name, value in self._pairs if name == key]

    def keys(self) -> KeysView[str]:
        return dict.fromkeys(name for name, _ in self._pairs).keys()

    def values(self) -> list[Value]:
        return [self[key] for key in self.keys()]

    def items(self) -> list[tuple[str, Value]]:
        return [(key, self[key]) for key in self.keys()]

    def __contains__(self, key: str) -> bool:
        return any(name == key for name, _ in self._pairs)

    def __getitem__(self, key: str) -> Value:
        if key not in self:
            raise KeyError(key)
        return self.getlist(key)[-1]

    def __bool__(self) -> bool:
        return bool(self._pairs)


class PluginUploadFile:
    """An uploaded file."""

    def __init__(self, upload_file: Any) -> None:
        self._upload_file = upload_file
        self.filename: str | None = upload_file.filename
        self.content_type: str | None = upload_file.content_type
        self.headers = upload_file.headers
        self.content_length: int | None = upload_file.content_length or None

    async def save(self, destination: str | Path) -> None:
        self._upload_file.stream.seek(0)
        Path(destination).write_bytes(self._upload_file.stream.read())

    async def read(self, size: int = -1) -> bytes:
        return self._upload_file.stream.read(size)

    async def seek(self, offset: int) -> None:
        self._upload_file.stream.seek(offset)

    async def close(self) -> None:
        self._upload_file.close()


class PluginRequest:
    """The request a handler answers; `_request` is Quart's."""

    def __init__(
        self,
        request_: Any,
        *,
        path_params: dict[str, Any] | None = None,
        plugin_name: str | None = None,
        username: str | None = None,
    ) -> None:
        self._request = request_
        self.method: str = request_.method
        self.path: str = request_.path
        self.headers = request_.headers
        self.cookies = dict(request_.cookies)
        self.content_type: str | None = request_.headers.get("content-type")
        self.client_host: str | None = request_.remote_addr
        self.path_params = path_params or {}
        self.plugin_name = plugin_name
        self.username = username
        self.query: PluginMultiDict[str] = PluginMultiDict(list(request_.args.items(multi=True)))

    async def body(self) -> bytes:
        return await self._request.get_data(as_text=False)

    async def json(self, default: Any = None) -> Any:
        try:
            return json.loads(await self.body())
        except ValueError:
            return default

    async def form(self) -> PluginMultiDict[str]:
        return PluginMultiDict(list((await self._request.form).items(multi=True)))

    async def files(self) -> PluginMultiDict[PluginUploadFile]:
        files = (await self._request.files).items(multi=True)
        return PluginMultiDict([(name, PluginUploadFile(file)) for name, file in files])


_current: contextvars.ContextVar[PluginRequest] = contextvars.ContextVar("astrbot_plugin_web_request")


class PluginRequestProxy:
    """`request`: whatever request the running handler answers."""

    def __getattr__(self, name: str) -> Any:
        try:
            found = _current.get()
        except LookupError:
            raise RuntimeError(texts.NOT_IN_A_ROUTE) from None
        return getattr(found, name)


request: Any = PluginRequestProxy()


@contextmanager
def bind_request_context(request_: PluginRequest) -> Iterator[PluginRequest]:
    token = _current.set(request_)
    try:
        yield request_
    finally:
        _current.reset(token)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return list(value) if isinstance(value, set | tuple) else str(value)


def json_response(
    data: Any = None, *, status_code: int = 200, headers: dict[str, str] | None = None
) -> Response:
    body = json.dumps({} if data is None else data, ensure_ascii=False, default=_plain)
    return Response(body, status_code, headers, content_type="application/json")


def error_response(
    message: str, *, status_code: int = 400, data: Any = None, headers: dict[str, str] | None = None
) -> Response:
    body = {"status": "error", "message": message, "data": data}
    return json_response(body, status_code=status_code, headers=headers)


def file_response(
    path: str | Path,
    *,
    filename: str | None = None,
    content_type: str | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    given = dict(headers or {})
    if filename:
        given["Content-Disposition"] = (
            f'attachment; filename="{filename.encode("ascii", "replace").decode()}"'
        )
    return Response(
        Path(path).read_bytes(), 200, given, content_type=content_type or "application/octet-stream"
    )


def stream_response(
    content: Iterable | AsyncIterable,
    *,
    content_type: str = "text/event-stream",
    status_code: int = 200,
    headers: dict[str, str] | None = None,
) -> Response:
    return Response(content, status_code, headers, content_type=content_type)


__all__ = [
    "PluginMultiDict",
    "PluginRequest",
    "PluginRequestProxy",
    "PluginUploadFile",
    "bind_request_context",
    "error_response",
    "file_response",
    "json_response",
    "request",
    "stream_response",
]
