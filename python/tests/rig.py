"""A worker process with a host made of Python functions, for tests of workers and flavours.

    async with Rig("nekro", {"data_get": lambda **given: None}) as rig:
        loaded = await rig.load(folder)
        value = await rig.call(loaded["id"], "method", 1, name=2)
"""

import array
import asyncio
import inspect
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PYTHON = Path(__file__).resolve().parent.parent
PATHS = [str(PYTHON / "worker"), str(PYTHON / "guest"), str(PYTHON)]
sys.path[:0] = PATHS[:2]

from callgate_guest import wire  # noqa: E402
from callgate_worker import frames  # noqa: E402
from callgate_worker.frames import (  # noqa: E402
    CANCEL, CREDIT, END, ERROR, ITEM, PING, PONG, REQUEST, RESULT, Reader, frame,
)

CHAT = "cli-private_u1"
CONTEXT = {
    "session": "cli:FriendMessage:u1",
    "chat_key": CHAT,
    "user": {"id": "u1", "name": "Alice", "nickname": "Alice", "role": "user"},
    "channel": {"id": "private_u1", "name": "u1", "type": "private", "adapter": "cli"},
    "persona": None,
    "shared": "",
    "uploads": "",
    "turn": None,
}


@dataclass
class Result:
    """Yielded by a method with many answers: what it returns in the end."""

    value: Any


class StepError(Exception):
    """A step failed: `error` is what the worker said of it."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['type']}: {error['message']}\n{error['traceback']}")
        self.error = error


class Rig:
    def __init__(
        self,
        flavour: str,
        methods: dict[str, Callable[..., Any]] | None = None,
        *,
        python: str = sys.executable,
        paths: tuple[str | Path, ...] = (),
        order: dict[str, Any] | None = None,
    ) -> None:
        self.methods = methods or {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        """Every host call so far, in order."""
        self._order = {"flavour": flavour, "paths": [*PATHS, *map(str, paths)], **(order or {})}
        self._python = python
        self._ids = itertools.count(1, 2)
        self._waiting: dict[int, asyncio.Queue[tuple[int, Any]]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._folder = tempfile.TemporaryDirectory(prefix="callgate-rig-")
        self.root = Path(self._folder.name)

    async def __aenter__(self) -> "Rig":
        setup, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        main, their_main = socket.socketpair()
        lane, their_lane = socket.socketpair()
        self._dump, their_dump = os.pipe()
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(PATHS[:2]), "HOME": str(self.root)}
        self.process = subprocess.Popen(
            [self._python, "-m", "callgate_worker"], stdin=theirs, cwd=self.root, env=environment
        )
        web = socket.create_server(("127.0.0.1", 0))
        fds = array.array("i", [their_main.fileno(), their_lane.fileno(), their_dump, web.fileno()])
        setup.sendmsg([json.dumps(self._order).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        for end in (setup, theirs, their_main, their_lane, web):
            end.close()
        os.close(their_dump)
        self._main = _Link(main, self._received)
        self._lane = _Link(lane, self._received)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._main.close()
        self._lane.close()
        os.close(self._dump)
        self._folder.cleanup()

    async def load(self, path: str | Path, id: str | None = None, **options: Any) -> dict[str, Any]:
        data = self.root / "data" / Path(path).name
        return await self.step("load", path=str(path), id=id, data=str(data), options=options)

    async def call(self, plugin: str, method: str, *positional: Any, **named: Any) -> Any:
        return await self.step(
            "call", plugin=plugin, method=method, positional=list(positional), named=named, context=CONTEXT
        )

    async def step(self, step: str, token: bytes | None = b"token", **arguments: Any) -> Any:
        """One step with one answer."""
        number, answers = self._ask(step, token, arguments)
        try:
            kind, value = await answers.get()
        except asyncio.CancelledError:
            self._main.send(frame(CANCEL, number))
            raise
        if kind == ERROR:
            raise StepError(value)
        return value

    async def steps(self, step: str, **arguments: Any) -> AsyncIterator[Any]:
        """One step with many answers."""
        number, answers = self._ask(step, b"token", arguments)
        ended = False
        try:
            while True:
                self._main.send(frame(CREDIT, number, 1))
                kind, value = await answers.get()
                ended = kind in (END, ERROR, RESULT)
                if kind == ERROR:
                    raise StepError(value)
                if ended:
                    return
                yield value
        finally:
            if not ended:
                self._main.send(frame(CANCEL, number))

    def _ask(self, step: str, token: bytes | None, arguments: dict[str, Any]) -> tuple[int, asyncio.Queue[Any]]:
        number = next(self._ids)
        answers = self._waiting[number] = asyncio.Queue()
        self._main.send(frame(REQUEST, number, token, step, arguments))
        return number, answers

    def _received(self, link: "_Link", kind: int, number: int, *fields: Any) -> None:
        if kind == REQUEST:
            task = asyncio.get_running_loop().create_task(self._serve(link, number, *fields))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif number in self._waiting:
            self._waiting[number].put_nowait((kind, fields[0] if fields else None))

    async def _serve(
        self, link: "_Link", number: int, token: bytes | None, name: str, plugin: str, arguments: dict[str, Any]
    ) -> None:
        self.calls.append((name, arguments))
        try:
            if name not in self.methods:
                raise LookupError(f"no method '{name}'")
            answer = self.methods[name](**arguments)
            if inspect.isasyncgen(answer):
                result = Result(None)
                async for item in answer:
                    if isinstance(item, Result):
                        result = item
                    else:
                        link.send(frame(ITEM, number, item))
                link.send(frame(END, number, result.value))
                return
            if inspect.isawaitable(answer):
                answer = await answer
            link.send(frame(RESULT, number, answer))
        except Exception as error:
            link.send(frame(ERROR, number, {"type": type(error).__name__, "message": str(error), "hint": None}))


class _Link:
    def __init__(self, connection: socket.socket, received: Callable[..., None]) -> None:
        self._connection = connection
        self._received = received
        self._reader = Reader()
        asyncio.get_running_loop().add_reader(connection, self._readable)

    def _readable(self) -> None:
        data = self._connection.recv(1 << 18)
        if not data:
            asyncio.get_running_loop().remove_reader(self._connection)
            self._received(self, ERROR, -1, None)
        for kind, fields in self._reader.push(data):
            self._received(self, kind, *fields)

    def send(self, data: bytes) -> None:
        self._connection.sendall(data)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._connection)
        self._connection.close()


__all__ = ["CHAT", "CONTEXT", "Result", "Rig", "StepError", "PING", "PONG", "frames", "wire"]
