"""People: each speaks in a conversation of their own, sends again what was not accepted, and remembers what was."""

import asyncio
import random
import time
from dataclasses import dataclass

from . import words
from .instance import Instance
from .web import Unreachable, ask

_KINDS = [words.PLAIN] * 4 + [words.EFFECT] * 5 + [words.TIMER]


@dataclass(frozen=True)
class Manner:
    """How somebody speaks. While a call waits for the operator its chat goes on, and code is shown all of that
    chat: so that the model can tell which messages are whose, those who ask for such calls either speak by tool
    calls alone or say one thing at a time."""

    kinds: list[str]
    modes: tuple[str | None, ...]
    at_once: tuple[int, ...]


_MANNERS = [
    Manner(_KINDS, ("tools", "code", None), (1, 1, 1, 2, 3)),
    Manner(_KINDS, ("tools", "code", None), (1, 1, 1, 2, 3)),
    Manner([*_KINDS[:-1], words.GUARDED, words.GUARDED], ("tools",), (1, 1, 2)),
    Manner([words.PLAIN, words.EFFECT, words.GUARDED], ("code",), (1,)),
]


@dataclass
class Said:
    ask: words.Ask
    mode: str | None
    model: str | None
    accepted_at: float


class Person:
    def __init__(self, number: int, instances: list[Instance], key: str, seed: int):
        self.number = number
        self.session = f"web:FriendMessage:person{number}"
        self.instances = instances
        self.key = key
        self.random = random.Random(seed)
        self.said: list[Said] = []
        # What came back as nobody would have it.
        self.wrong: list[str] = []
        self.attempts = 0
        self.ending = asyncio.Event()

    async def run(self) -> None:
        number, manner = 0, _MANNERS[self.number % len(_MANNERS)]
        while not self.ending.is_set():
            # What follows at once may be answered together, so that it is to be answered in the same way.
            mode, model = self.random.choice(manner.modes), self.random.choice(("first", "second", None))
            for _ in range(self.random.choice(manner.at_once)):
                number += 1
                asked = words.Ask(words.name_of(self.number, number), self.random.choice(manner.kinds))
                await self._say(asked, mode, model, wait=self.random.random() < 0.5)
            await self._until_answered()
            await asyncio.sleep(self.random.uniform(0.0, 2.0))

    async def _say(self, asked: words.Ask, mode: str | None, model: str | None, wait: bool) -> None:
        body = {"text": asked.text, "wait": wait, "mode": mode, "model": model}
        body = {name: value for name, value in body.items() if value is not None}
        while True:
            self.attempts += 1
            instance = self.random.choice(self.instances)
            # One that waits may wait for the operator, or hear nothing of an instance that stands still.
            seconds = self.random.choice((1.0, 5.0, 30.0))
            path = f"/api/sessions/{self.session}/messages"
            try:
                status, answer = await ask(
                    instance.port, "POST", path, self.key, body, seconds, idempotency_key=asked.name
                )
            except Unreachable:
                await asyncio.sleep(self.random.uniform(0.05, 0.5))
                continue
            if status == 200:
                self.said.append(Said(asked, mode, model, time.time()))
                self._look_at(asked, wait, answer)
                return
            if status < 500 and status != 429:
                self.wrong.append(f"{asked.name} was refused with {status}: {answer}")
            await asyncio.sleep(self.random.uniform(0.1, 0.5))

    def _look_at(self, asked: words.Ask, wait: bool, answer: dict[str, str]) -> None:
        stop, text = answer["stop"], answer["text"]
        names = [name for one in words.answers(text) for name in one.names]
        if not wait and stop != "accepted" or stop not in ("accepted", "answered", "joined", "approval", "heard"):
            self.wrong.append(f"{asked.name} ended as {stop}: {text}")
        # Code answers by messages, which are not the turn's own text.
        if names and asked.name not in names:
            self.wrong.append(f"{asked.name} was given the answer to {names}")

    async def _until_answered(self) -> None:
        """Messages that wait together are answered together, in the way that the newest of them asks for."""
        last = self.said[-1].ask.name
        while not self.ending.is_set():
            try:
                path = f"/api/sessions/{self.session}/log?limit=20"
                status, log = await ask(self.random.choice(self.instances).port, "GET", path, self.key, seconds=5)
                if status == 200 and any(last in answer.names for answer in words.answers(str(log))):
                    return
            except Unreachable:
                pass
            await asyncio.sleep(0.3)


async def approve(instances: list[Instance], key: str, chance: random.Random) -> None:
    """The operator, who allows whatever is asked, a little later."""
    while True:
        await asyncio.sleep(chance.uniform(0.2, 1.5))
        port = chance.choice(instances).port
        try:
            status, waiting = await ask(port, "GET", "/api/approvals?limit=100", key, seconds=5)
            if status == 200:
                for approval in waiting["items"]:
                    await ask(port, "POST", f"/api/approvals/{approval['id']}", key, {"allow": True}, seconds=5)
        except Unreachable:
            pass
