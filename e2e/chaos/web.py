"""Just enough HTTP/1.1 on asyncio: a server for what Callgate asks of us, and requests to Callgate.

One request a connection: a connection that is reused would hide which process has answered.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any


class Unreachable(Exception):
    """No whole answer came: the other side is away, was killed, or took too long."""


@dataclass
class Request:
    verb: str
    path: str
    body: Any
    headers: dict[str, str]


@dataclass
class Answer:
    """A body is sent as JSON, text as events of a stream."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


Handler = Callable[[Request], Awaitable[Answer]]


async def read_head(reader: asyncio.StreamReader) -> tuple[str, dict[str, str]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in head[1:] if line)
    return head[0], {name.strip().lower(): value.strip() for name, _, value in pairs}


class Server:
    """Answers on a free port of loopback."""

    def __init__(self, handler: Handler):
        self.handler = handler
        self.port = 0

    async def start(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first, headers = await read_head(reader)
            verb, path, _ = first.split(" ", 2)
            length = int(headers.get("content-length", "0"))
            content = await reader.readexactly(length)
            body = json.loads(content) if content else None
            answer = await self.handler(Request(verb, path, body, headers))
            writer.write(_encoded(answer))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # Whoever asked was killed.
        finally:
            writer.close()


def _encoded(answer: Answer) -> bytes:
    if isinstance(answer.body, str):
        kind, content = "text/event-stream", answer.body.encode()
    else:
        kind = "application/json"
        content = b"" if answer.body is None else json.dumps(answer.body).encode()
    headers = {"content-type": kind, "content-length": str(len(content)), "connection": "close"}
    lines = [f"HTTP/1.1 {answer.status} -", *(f"{k}: {v}" for k, v in {**headers, **answer.headers}.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


async def open_request(
    port: int, verb: str, path: str, headers: dict[str, str], body: Any = None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Sends a request; the answer is the caller's to read."""
    content = b"" if body is None else json.dumps(body).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    every = {
        "host": f"127.0.0.1:{port}",
        "connection": "close",
        "content-type": "application/json",
        "content-length": str(len(content)),
        **headers,
    }
    lines = [f"{verb} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in every.items())]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
    await writer.drain()
    return reader, writer


async def ask(
    port: int, verb: str, path: str, key: str = "", body: Any = None, seconds: float = 30.0, **headers: str
) -> tuple[int, Any]:
    """Status and body, as JSON where it is."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if key:
        named["authorization"] = f"Bearer {key}"

    async def asked() -> tuple[int, Any]:
        reader, writer = await open_request(port, verb, path, named, body)
        try:
            first, head = await read_head(reader)
            content = await reader.read()
            if len(content) < int(head.get("content-length", "0")):
                raise Unreachable("cut off")
            if head.get("transfer-encoding") == "chunked":
                content = _joined(content)
        finally:
            writer.close()
        try:
            return int(first.split(" ")[1]), json.loads(content)
        except ValueError:
            return int(first.split(" ")[1]), content.decode("utf-8", "replace")

    try:
        return await asyncio.wait_for(asked(), seconds)
    except (OSError, EOFError, TimeoutError, IndexError, ValueError) as error:
        raise Unreachable(str(error)) from error


def _joined(content: bytes) -> bytes:
    whole = b""
    while content:
        size, _, rest = content.partition(b"\r\n")
        length = int(size, 16)
        whole, content = whole + rest[:length], rest[length + 2 :]
        if length == 0:
            return whole
    raise Unreachable("cut off")
