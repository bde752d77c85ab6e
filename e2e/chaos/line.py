"""A line to the database that can fail: closed at once, or silent while both ends believe it open."""

import asyncio

_PIECE = 1 << 16


class Line:
    def __init__(self, target: int):
        self.target = target
        self.port = 0
        self.silent = False
        self.open: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    def drop(self) -> None:
        """Every connection ends now, without a farewell."""
        for writer in list(self.open):
            writer.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, far_writer}
        self.open |= ends
        dead = asyncio.Event()
        try:
            directions = [
                asyncio.create_task(self._copy(reader, far_writer, dead)),
                asyncio.create_task(self._copy(far_reader, writer, dead)),
            ]
            _, other = await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
            for direction in other:
                direction.cancel()
        finally:
            self.open -= ends
            for end in ends:
                end.transport.abort()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, dead: asyncio.Event) -> None:
        """What is said in the silence is lost, and its connection with it, also when the silence is over."""
        try:
            while piece := await reader.read(_PIECE):
                if self.silent or dead.is_set():
                    dead.set()
                    continue
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass  # Dropped by us, or by either end.
