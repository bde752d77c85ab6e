"""The channel `main`: requests both ways on the plugins' event loop.

The reader never waits for a handler and never for the writer: each request is a task of its own,
and what the socket does not take at once is kept until it does.
"""

import asyncio
import contextvars
import itertools
import os
import socket
import sys
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

from callgate_guest import outward, wire

from callgate_worker import failure, host
from callgate_worker.flavour import Step
from callgate_worker.frames import (
    CANCEL,
    CREDIT,
    END,
    ERROR,
    ITEM,
    PING,
    PONG,
    REQUEST,
    RESULT,
    Reader,
    frame,
    frame_of,
)

_CHUNK = 1 << 18


class Channel:
    def __init__(
        self,
        connection: socket.socket,
        loop: asyncio.AbstractEventLoop,
        steps: dict[str, Step],
        packages: frozenset[str] = frozenset(),
    ) -> None:
        self.loop = loop
        self._steps = steps
        self._packages = packages
        self._connection = connection
        self._reader = Reader()
        self._unsent: deque[bytes] = deque()
        # Even numbers are ours, odd ones the host's.
        self._ids = itertools.count(2, 2)
        self._asked: dict[int, _Asked | Stream] = {}
        # Strong references: the loop itself keeps only weak ones to its tasks.
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._credits: dict[int, _Credit] = {}
        connection.setblocking(False)
        loop.add_reader(connection.fileno(), self._readable)

    # Requests of ours.

    async def ask(self, name: str, arguments: dict[str, Any], token: bytes | None) -> Any:
        number = next(self._ids)
        request = frame_of(REQUEST, (number, token, name, host.plugin.get()), arguments, f"{name}()")
        asked = _Asked(asyncio.get_running_loop())
        self._on_loop(self._begin, number, asked, request)
        try:
            return await asked.future
        except asyncio.CancelledError:
            self._on_loop(self._cancel_asked, number)
            raise

    def stream(self, name: str, arguments: dict[str, Any], token: bytes | None) -> "Stream":
        return Stream(self, name, arguments, token)

    def _begin(self, number: int, asked: "_Asked | Stream", request: bytes) -> None:
        self._asked[number] = asked
        self._send(request)

    def _cancel_asked(self, number: int) -> None:
        if self._asked.pop(number, None) is not None:
            self._send(frame(CANCEL, number))

    def _on_loop(self, function: Any, *arguments: Any) -> None:
        """Plugins may run loops in threads of their own; the socket belongs to ours."""
        if asyncio._get_running_loop() is self.loop:
            function(*arguments)
        else:
            self.loop.call_soon_threadsafe(function, *arguments)

    # The socket.

    def _readable(self) -> None:
        try:
            data = self._connection.recv(_CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        if not data:
            # The host is gone: nobody is left to work for.
            os._exit(0)
        for kind, fields in self._reader.push(data):
            self._received(kind, *fields)

    def _send(self, data: bytes) -> None:
        if not self._unsent:
            try:
                sent = self._connection.send(data)
            except (BlockingIOError, InterruptedError):
                sent = 0
            if sent == len(data):
                return
            data = data[sent:]
            self.loop.add_writer(self._connection.fileno(), self._writable)
        self._unsent.append(data)

    def _writable(self) -> None:
        try:
            while self._unsent:
                sent = self._connection.send(self._unsent[0])
                if sent < len(self._unsent[0]):
                    self._unsent[0] = self._unsent[0][sent:]
                    return
                self._unsent.popleft()
        except (BlockingIOError, InterruptedError):
            return
        self.loop.remove_writer(self._connection.fileno())

    # Frames of the host's.

    def _received(self, kind: int, number: int, *fields: Any) -> None:
        if kind == REQUEST:
            self._serve(number, *fields)
        elif kind in (RESULT, END, ERROR):
            asked = self._asked.pop(number, None)
            if asked is not None:
                asked.settle(kind, fields[0])
        elif kind == ITEM:
            asked = self._asked.get(number)
            if isinstance(asked, Stream):
                asked.item(fields[0])
        elif kind == CREDIT:
            if (credit := self._credits.get(number)) is not None:
                credit.add(fields[0])
        elif kind == CANCEL:
            if (task := self._tasks.get(number)) is not None:
                task.cancel()
        elif kind == PING:
            self._send(frame(PONG, number))

    def _serve(self, number: int, token: bytes | None, step: str, arguments: dict[str, Any]) -> None:
        context = contextvars.copy_context()
        context.run(host.identity.set, token)
        if "plugin" in arguments:
            context.run(host.plugin.set, arguments["plugin"] or "")
        self._credits[number] = _Credit(self.loop)
        task = _start(self.loop, self._answer(number, step, arguments), context)
        if not task.done():
            self._tasks[number] = task
            task.add_done_callback(lambda _: self._tasks.pop(number, None))

    async def _answer(self, number: int, step: str, arguments: dict[str, Any]) -> None:
        try:
            handler = self._steps.get(step)
            if handler is None:
                raise LookupError(f"this worker has no step '{step}'")
            outcome: Any = handler(**arguments)
            if hasattr(outcome, "__aiter__"):
                await self._produce(number, outcome)
                answer = frame(END, number, None)
            else:
                answer = self._result(number, step, await outcome)
        except BaseException as error:
            # `sys.exit()` of a plugin too: raised out of a task it would end the loop for all.
            answer = frame(ERROR, number, failure.describe(error))
        finally:
            self._credits.pop(number, None)
        self._send(answer)

    def _result(self, number: int, step: str, value: Any) -> bytes:
        if step != "call":
            return frame_of(RESULT, (number,), value, "result")
        # A method's result is on its way to the sandbox, where objects may go too.
        return wire.frame(RESULT, outward.dumps(value, "result", self._packages, (number,)))

    async def _produce(self, number: int, items: AsyncIterator[Any]) -> None:
        credit = self._credits[number]
        try:
            while True:
                await credit.take()
                try:
                    item = await anext(items)
                except StopAsyncIteration:
                    return
                self._send(frame_of(ITEM, (number,), item, "item"))
        finally:
            # The generator's own `finally` may wait for things, also after a cancellation.
            close = getattr(items, "aclose", None)
            if close is not None:
                await close()


if sys.version_info >= (3, 12):

    def _start(loop, coroutine, context):
        """The first step runs at once: most methods need no other."""
        return asyncio.Task(coroutine, loop=loop, context=context, eager_start=True)

else:

    def _start(loop, coroutine, context):
        """The same: a new task's first step is what the loop was given last."""
        task = loop.create_task(coroutine, context=context)
        loop._ready.pop()._run()
        return task


def _error(described: dict[str, Any]) -> host.HostError:
    return host.HostError(
        described.get("type") or "HostError", described.get("message") or "", described.get("hint")
    )


class _Asked:
    """One answer to come, for a coroutine of any loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[Any] = loop.create_future()

    def settle(self, kind: int, value: Any) -> None:
        loop = self.future.get_loop()
        if asyncio._get_running_loop() is loop:
            self._settle(kind, value)
        elif not loop.is_closed():
            loop.call_soon_threadsafe(self._settle, kind, value)

    def _settle(self, kind: int, value: Any) -> None:
        if self.future.done():
            return
        if kind == ERROR:
            self.future.set_exception(_error(value))
        else:
            self.future.set_result(value)


class Stream:
    """Items of a host method. It is asked for the next one only when the last has been used."""

    def __init__(
        self, channel: Channel, name: str, arguments: dict[str, Any], token: bytes | None
    ) -> None:
        self.result: Any = None
        self._channel = channel
        self._number = next(channel._ids)
        head = (self._number, token, name, host.plugin.get())
        self._request = frame_of(REQUEST, head, arguments, f"{name}()")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._arrived: asyncio.Queue[tuple[int, Any]] = asyncio.Queue()
        self._ended = False

    def __aiter__(self) -> "Stream":
        return self

    async def __anext__(self) -> Any:
        if self._ended:
            raise StopAsyncIteration
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._channel._on_loop(self._channel._begin, self._number, self, self._request)
        self._channel._on_loop(self._channel._send, frame(CREDIT, self._number, 1))
        try:
            kind, value = await self._arrived.get()
        except asyncio.CancelledError:
            await self.aclose()
            raise
        if kind == ITEM:
            return value
        self._ended = True
        if kind == ERROR:
            raise _error(value)
        self.result = value
        raise StopAsyncIteration

    async def aclose(self) -> None:
        if not self._ended and self._loop is not None:
            self._channel._on_loop(self._channel._cancel_asked, self._number)
        self._ended = True

    def item(self, value: Any) -> None:
        self._arrive(ITEM, value)

    def settle(self, kind: int, value: Any) -> None:
        self._arrive(kind, value)

    def _arrive(self, kind: int, value: Any) -> None:
        if asyncio._get_running_loop() is self._loop:
            self._arrived.put_nowait((kind, value))
        elif self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._arrived.put_nowait, (kind, value))


class _Credit:
    """How many items the host will take before it says more."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._left = 0
        self._waiting: asyncio.Future[None] | None = None

    def add(self, count: int) -> None:
        self._left += count
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def take(self) -> None:
        while self._left == 0:
            self._waiting = self._loop.create_future()
            await self._waiting
        self._left -= 1
