"""Files offered under a URL: a listener of this process on the loopback, opened with the first file.

Plugins need an http URL where AstrBot has one (`Image.fromURL` takes nothing else). Our own URLs never leave:
`path_of` turns them back into files before a message goes to the host."""

from __future__ import annotations

import asyncio
import mimetypes
import os
import time
import uuid
from urllib.parse import urlparse

from astrbot.core.utils.media import local

_LIFETIME = 3600.0


class FileTokenService:
    def __init__(self, default_timeout: float = _LIFETIME) -> None:
        self.default_timeout = default_timeout
        self.staged_files: dict[str, tuple[str, float]] = {}
        self._server: asyncio.Server | None = None
        self._address = ""

    async def register_file(self, file_path: str, timeout: float | None = None) -> str:
        path = local(file_path)
        if not path or not os.path.exists(path):
            raise FileNotFoundError(f"no such file: {file_path}")
        self._forget_old()
        token = str(uuid.uuid4())
        self.staged_files[token] = (path, time.time() + (timeout or self.default_timeout))
        return token

    def _forget_old(self) -> None:
        now = time.time()
        for token in [token for token, (_, ends) in self.staged_files.items() if ends < now]:
            del self.staged_files[token]

    async def check_token_expired(self, file_token: str) -> bool:
        return self.staged_files.get(file_token, ("", 0.0))[1] < time.time()

    async def handle_file(self, file_token: str) -> str:
        if await self.check_token_expired(file_token):
            raise KeyError(f"unknown or expired file token: {file_token}")
        return self.staged_files[file_token][0]

    async def url_of(self, path: str) -> str:
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
            self._address = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        name = os.path.basename(path)
        return f"{self._address}/api/file/{await self.register_file(path)}{os.path.splitext(name)[1]}"

    def path_of(self, url: str) -> str | None:
        """The file behind a URL of ours."""
        if not self._address or not url.startswith(f"{self._address}/"):
            return None
        token = os.path.splitext(os.path.basename(urlparse(url).path))[0]
        return self.staged_files.get(token, (None, 0.0))[0]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).split()
            path = self.path_of(self._address + asked[1].decode()) if asked[0] == b"GET" else None
            body = await asyncio.to_thread(_read, path) if path else b""
            kind = mimetypes.guess_type(path or "")[0] or "application/octet-stream"
            state = "200 OK" if path else "404 Not Found"
            head = f"HTTP/1.1 {state}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
        except (TimeoutError, OSError, ValueError, IndexError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
