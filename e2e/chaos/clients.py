"""Clients by Socket.IO: each asks one thing at a time, asks again under the same name what was not taken, and is
told the answer without asking, wherever it is connected by then."""

import asyncio
import random
import time
from collections import defaultdict

from . import words
from .instance import Instance
from .people import Said
from .socket_io import SocketIo
from .web import Unreachable

_KINDS = [words.PLAIN, words.EFFECT, words.EFFECT, words.TIMER]
# What a client is told to send again.
_LATER = ("could not be stored", "could not store", "is starting")
_PATIENCE = 60.0


class Client:
    def __init__(self, number: int, instances: list[Instance], key: str, seed: int):
        self.number = number
        self.instances = instances
        self.auth = {"clientId": f"client{number}", "clientType": "web-app", "key": key}
        self.random = random.Random(seed)
        self.said: list[Said] = []
        self.wrong: list[str] = []
        self.heard: dict[str, list[float]] = defaultdict(list)
        self.connections = 0
        self.socket: SocketIo | None = None
        self.ending = asyncio.Event()

    async def listen(self) -> None:
        """Connected somewhere, again and again."""
        while True:
            try:
                port = self.random.choice(self.instances).port
                self.socket = await asyncio.wait_for(SocketIo.connect(port, "/llm", self.auth), 10)
                self.connections += 1
                while True:
                    self._hear(*await self.socket.listen())
            except (Unreachable, TimeoutError):
                pass
            finally:
                if self.socket:
                    self.socket.close()
                    self.socket = None
            await asyncio.sleep(self.random.uniform(0.05, 0.3))

    def _hear(self, event: str, data: object) -> None:
        if event == "message":
            for name in {name for answer in words.answers(str(data)) for name in answer.names}:
                self.heard[name].append(time.time())

    async def run(self) -> None:
        number = 0
        while not self.ending.is_set():
            number += 1
            asked = words.Ask(words.name_of(self.number, number), self.random.choice(_KINDS))
            await self._say(asked)
            until = time.time() + _PATIENCE
            while not self.heard[asked.name] and time.time() < until and not self.ending.is_set():
                await asyncio.sleep(0.1)
            await asyncio.sleep(self.random.uniform(0.0, 2.0))

    async def _say(self, asked: words.Ask) -> None:
        request = {"target": "server", "requestId": asked.name, "message": asked.text}
        while True:
            try:
                if self.socket:
                    answer = await self.socket.ask("LLM_REQUEST", request)
                    if answer["status"] == "ok":
                        self.said.append(Said(asked, None, None, time.time()))
                        return
                    if not any(reason in answer["message"] for reason in _LATER):
                        self.wrong.append(f"{asked.name} was refused: {answer['message']}")
            except Unreachable:
                pass
            await asyncio.sleep(self.random.uniform(0.1, 0.5))

    def delivered_wrongly(self, reported: list[str], moments: list[float]) -> list[str]:
        """Never, or again though nothing had happened: a kill may come between a delivery and its mark."""
        names = [one.ask.name for one in self.said if one.ask.name not in reported]
        wrong = [f"{name} was not delivered" for name in names if not self.heard[name]]
        for name, times in self.heard.items():
            for before, after in zip(times, times[1:], strict=False):
                if not any(before - 1 < at < after for at in moments):
                    wrong.append(f"{name} was delivered again, and nothing was wrong")
        return wrong
