"""A worker from its start to its end: takes its channels and serves. The host has put it behind its wall."""

import asyncio
import faulthandler
import gc
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from callgate_worker import host, log
from callgate_worker.channel import Channel
from callgate_worker.flavour import Flavour, Source, find
from callgate_worker.lane import Lane
from callgate_worker.web import Web

_LARGEST_ORDER = 1 << 20


def main() -> None:
    order, (main_fd, lane_fd, dump_fd, web_fd) = _take_order()
    log.install()
    faulthandler.enable(file=dump_fd)
    faulthandler.register(signal.SIGUSR1, file=dump_fd, all_threads=True)
    sys.path[:0] = order["paths"]
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    worker = Worker(loop, find(order["flavour"]), socket.socket(fileno=web_fd))
    connection = socket.socket(fileno=main_fd)
    packages = frozenset(order.get("packages", ()))
    host.channel = Channel(connection, loop, worker.steps, packages)
    host.lane = Lane(socket.socket(fileno=lane_fd))
    _keep_from_children((main_fd, lane_fd, dump_fd, web_fd))
    worker.serve()


def _take_order() -> tuple[dict[str, Any], list[int]]:
    """What to be, and the descriptors of it, from the socket we find as our standard input."""
    with socket.socket(fileno=os.dup(0)) as setup:
        order, descriptors, _, _ = socket.recv_fds(setup, _LARGEST_ORDER, 4)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return json.loads(order), descriptors


def _keep_from_children(descriptors: tuple[int, ...]) -> None:
    """A forked child must not answer, or keep alive, what belongs to its parent."""

    def let_go() -> None:
        host.channel = host.lane = None
        for descriptor in descriptors:
            try:
                os.close(descriptor)
            except OSError:
                pass

    os.register_at_fork(after_in_child=let_go)


class Worker:
    """The steps that every flavour has, and the loop that outlives what plugins do to it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, flavour: Flavour, web: socket.socket) -> None:
        self._loop = loop
        self._flavour = flavour
        self._loaded: list[str] = []
        self._ending = False
        self.steps = {
            **flavour.steps,
            "load": self.load,
            "unload": self.unload,
            "shutdown": self.shutdown,
        }
        if (find_routes := getattr(flavour, "web", None)) is not None:
            self.steps["web"] = Web(find_routes, web).open

    def serve(self) -> None:
        while not self._ending:
            try:
                self._loop.run_forever()
            except (SystemExit, KeyboardInterrupt) as stop:
                # `sys.exit()` in a plugin's own task: it ends the task, not everybody's process.
                print(f"a plugin called exit ({stop!r}); the worker goes on", file=sys.stderr)

    async def load(
        self, path: str, id: str | None, data: str, options: dict[str, Any]
    ) -> dict[str, Any]:
        host.plugin.set(id or Path(path).name)
        folder = Path(data)
        folder.mkdir(parents=True, exist_ok=True)
        # A plugin's file changed within a second, to the same size, would come from its old bytecode.
        sys.dont_write_bytecode = True
        loaded = await self._flavour.load(Source(Path(path), id, folder, options))
        if loaded.id not in self._loaded:
            self._loaded.append(loaded.id)
        return loaded.describe()

    async def unload(self, plugin: str) -> None:
        if plugin in self._loaded:
            self._loaded.remove(plugin)
        await self._flavour.unload(plugin)
        # Its code is a web of cycles; one that is loaded anew should not meet it.
        gc.collect()

    async def shutdown(self) -> None:
        for plugin in self._loaded[::-1]:
            try:
                await self._flavour.unload(plugin)
            except Exception as error:
                print(f"{plugin} did not unload: {error!r}", file=sys.stderr)
        self._ending = True
        # After the answer to this step has gone out.
        self._loop.call_later(0.05, self._loop.stop)
