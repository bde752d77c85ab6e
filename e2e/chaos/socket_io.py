"""Just enough Socket.IO 5 over a websocket: one namespace, requests with an acknowledgement, events."""

import asyncio
import json
import os
from typing import Any

from .web import Unreachable, read_head

_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10


class _Reader(asyncio.StreamReader):
    """Gives out what had arrived before the connection was reset."""

    def set_exception(self, exc: BaseException) -> None:
        self.feed_eof()


class SocketIo:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, namespace: str):
        self.reader = reader
        self.writer = writer
        self.namespace = namespace
        self.asked: dict[int, asyncio.Future[Any]] = {}
        self.number = 0

    @classmethod
    async def connect(cls, port: int, namespace: str, auth: dict[str, str]) -> "SocketIo":
        try:
            loop = asyncio.get_running_loop()
            reader = _Reader(loop=loop)
            protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
            transport, _ = await loop.create_connection(lambda: protocol, "127.0.0.1", port)
            writer = asyncio.StreamWriter(transport, protocol, reader, loop)
            lines = [
                "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1",
                f"host: 127.0.0.1:{port}",
                "connection: Upgrade",
                "upgrade: websocket",
                "sec-websocket-version: 13",
                "sec-websocket-key: Y2FsbGdhdGUgY2hhb3MuLg==",
            ]
            writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
            first, _ = await read_head(reader)
        except (OSError, EOFError) as error:
            raise Unreachable(str(error)) from error
        made = cls(reader, writer, namespace)
        if " 101 " not in first:
            made.close()
            raise Unreachable(first)
        try:
            await made._packet()
            made._send(f"40{namespace},{json.dumps(auth)}")
            while not (packet := await made._packet()).startswith(f"40{namespace},"):
                if packet.startswith("44"):
                    raise Unreachable(packet)
        except Unreachable:
            made.close()
            raise
        return made

    async def ask(self, event: str, data: Any) -> Any:
        """What the other side acknowledges it with, which somebody has to [`listen`][SocketIo.listen] for."""
        self.number += 1
        answer = self.asked[self.number] = asyncio.get_running_loop().create_future()
        self._send(f"42{self.namespace},{self.number}{json.dumps([event, data])}")
        return await answer

    async def listen(self) -> tuple[str, Any]:
        """The next event."""
        while True:
            packet = await self._packet()
            kind, rest = packet[:2], packet[2:].removeprefix(f"{self.namespace},")
            if kind == "43":
                number, _, values = rest.partition("[")
                if answer := self.asked.pop(int(number), None):
                    answer.set_result(json.loads("[" + values)[0])
            elif kind == "42" and rest.startswith("["):
                event, *values = json.loads(rest)
                return event, values[0] if values else None
            elif kind in ("41", "44"):
                raise Unreachable(packet)

    def close(self) -> None:
        self.writer.close()
        for answer in self.asked.values():
            if not answer.done():
                answer.set_exception(Unreachable("the connection has ended"))
        self.asked.clear()

    async def _packet(self) -> str:
        """The next of Engine.IO; a ping is answered and passed over."""
        whole = b""
        while True:
            try:
                last, kind, content = await self._frame()
            except (OSError, EOFError) as error:
                raise Unreachable(str(error)) from error
            if kind == _CLOSE:
                raise Unreachable("closed")
            if kind == _PING:
                self._frame_out(_PONG, content)
            if kind not in (0, _TEXT):
                continue
            whole += content
            if last:
                text, whole = whole.decode(), b""
                if text != "2":
                    return text
                self._send("3")

    async def _frame(self) -> tuple[bool, int, bytes]:
        first, second = await self.reader.readexactly(2)
        length = second & 127
        if length > 125:
            length = int.from_bytes(await self.reader.readexactly(2 if length == 126 else 8))
        return bool(first & 128), first & 15, await self.reader.readexactly(length)

    def _send(self, text: str) -> None:
        self._frame_out(_TEXT, text.encode())

    def _frame_out(self, kind: int, content: bytes) -> None:
        length = len(content)
        size = bytes([128 | length]) if length < 126 else bytes([128 | 126]) + length.to_bytes(2)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(content))
        self.writer.write(bytes([128 | kind]) + size + mask + masked)
