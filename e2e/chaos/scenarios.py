"""What chance does not bring about often enough, once each: each scenario says what did not hold."""

import asyncio
import re
import shutil
import statistics
import time

from . import words
from .checks import Record
from .instance import Instance
from .model import Round
from .stage import TERM, Stage
from .web import Unreachable, ask

SESSIONS = 6
# After the term, for others to take over.
_SOON = 3.0
_PATIENCE = 40.0


class Scenarios:
    def __init__(self, stage: Stage):
        self.stage = stage
        self.conversation = 1_000
        self.counts: dict[str, float] = {}

    def names(self, count: int) -> list[str]:
        """Each the first message of a conversation of its own."""
        first, self.conversation = self.conversation, self.conversation + count
        return [words.name_of(first + place, 1) for place in range(count)]

    async def say(self, instance: Instance, name: str, kind: str, wait: bool = False, platform: str = "web") -> int:
        session = f"{platform}:FriendMessage:person{name[1:].partition('x')[0]}"
        body = {"text": words.Ask(name, kind).text, "wait": wait, "mode": "tools"}
        path = f"/api/sessions/{session}/messages"
        until = time.time() + _PATIENCE
        while True:
            status, _ = await ask(instance.port, "POST", path, self.stage.key, body, 60, idempotency_key=name)
            if status != 503 or time.time() > until:
                return status
            await asyncio.sleep(0.05)  # It has just been started.

    async def under_way(self, instance: Instance) -> list[str]:
        """Turns whose model thinks."""
        names = self.names(SESSIONS)
        await asyncio.gather(*(self.say(instance, name, words.SLOW) for name in names))
        while not all(self.stage.model.rounds[Round(name, 0)] for name in names):
            await asyncio.sleep(0.02)
        return names

    async def answered_once(self, names: list[str]) -> list[str]:
        until = time.time() + _PATIENCE
        while True:
            record = await Record.read(self.stage)
            wrong = [f"{name}: {len(record.answered[name])} answers" for name in names if len(record.answered[name]) != 1]
            if not wrong or time.time() > until:
                return wrong
            await asyncio.sleep(0.2)

    def asked_again(self, names: list[str], since: float) -> float:
        """When the last of them was, in seconds after `since`."""
        last = [self.stage.model.rounds[Round(name, 0)][-1] - since for name in names]
        return round(max(last), 1)

    async def take_over(self) -> list[str]:
        gone, other = self.stage.instances[:2]
        names = await self.under_way(gone)
        await gone.kill()
        killed = time.time()
        wrong = await self.answered_once(names)
        took = self.asked_again(names, killed)
        self.counts["longest takeover, s after the kill"] = took
        if took > TERM + _SOON:
            wrong.append(f"taken over after {took} s, with a term of {TERM} s")
        await gone.start_again()
        return wrong

    async def come_back(self) -> list[str]:
        """An instance that comes back under its old name locks nobody out."""
        gone, other = self.stage.instances[:2]
        names = await self.under_way(gone)
        await gone.kill()
        await gone.start_again()
        back = time.time()
        later = [name.partition("x")[0] + "x2" for name in names]
        await asyncio.gather(*(self.say(other, name, words.PLAIN) for name in later))
        wrong = await self.answered_once([*names, *later])
        took = self.asked_again(names, back)
        self.counts["longest return, s after the start"] = took
        if took > TERM + _SOON:
            wrong.append(f"went on {took} s after it was back")
        record = await Record.read(self.stage)
        for name, after in zip(names, later, strict=True):
            if not wrong and record.answered[name][0]["id"] > record.answered[after][0]["id"]:
                wrong.append(f"{after} was answered before {name}")
        return wrong

    async def copied_directory(self) -> list[str]:
        """A copy of a data directory that is in use is an instance of its own."""
        original = self.stage.instances[0]
        copy = self.stage.add_instance()
        for name in ("instance", "callgate.toml"):
            shutil.copy(original.data / name, copy.data / name)
        await copy.start_again()
        await copy.settle(self.stage.key)
        try:
            names = self.names(SESSIONS)
            places = (original, copy)
            said = (self.say(places[at % 2], name, words.EFFECT, wait=True) for at, name in enumerate(names))
            await asyncio.gather(*said)
            wrong = await self.answered_once(names)
            rounds = {name: self.stage.model.rounds[Round(name, 0)] for name in names}
            wrong += [f"{name} was asked {len(times)} times" for name, times in rounds.items() if len(times) != 1]
            if (original.data / "instance").read_text() == (copy.data / "instance").read_text():
                wrong.append("both have one name")
            return wrong
        finally:
            await copy.kill()

    async def clock_set_back(self) -> list[str]:
        """All that was begun lies an hour ahead of the clock of whoever comes next."""
        names = await self.under_way(self.stage.instances[0])
        for instance in self.stage.instances:
            await instance.kill()
        for table, column in (("log", "written_at"), ("turn", "started_at"), ("run", "started_at")):
            await self.stage.execute(f"UPDATE {table} SET {column} = {column} + 3600000")
        for instance in self.stage.instances:
            await instance.start_again()
        return await self.answered_once(names)

    async def accepted_and_killed(self) -> list[str]:
        """Whoever was told that a message is accepted is answered."""
        instance = self.stage.instances[0]
        names = self.names(15)
        accepted: list[str] = []

        async def say(name: str) -> None:
            try:
                if await self.say(instance, name, words.PLAIN) == 200:
                    accepted.append(name)
            except Unreachable:
                pass  # It was not told.

        saying = asyncio.gather(*map(say, names))
        while len(accepted) < 10:
            await asyncio.sleep(0)
        await instance.kill()
        await saying
        await instance.start_again()
        return await self.answered_once(accepted)

    async def flat_cost(self, messages: int) -> list[str]:
        """Answers that nobody comes for make those after them neither slower nor dearer."""
        instance = self.stage.instances[0]
        await instance.settle(self.stage.key)
        first, self.conversation = self.conversation, self.conversation + SESSIONS
        part = max(20, messages // 10)
        took: list[float] = []
        statements: list[int] = []
        for number in range(messages):
            name = words.name_of(first + number % SESSIONS, number + 1)
            looks = number < part or number >= messages - part
            before = await self._statements(instance) if looks else 0
            begun = time.perf_counter()
            await self.say(instance, name, words.PLAIN, True, "cli")
            if looks:
                took.append((time.perf_counter() - begun) * 1_000)
                statements.append(await self._statements(instance) - before)
        # The usual one: now and then something is asked besides, such as whether other instances live, or what
        # one message wrote is counted with the next.
        early, late = (round(statistics.median(some)) for some in (statements[:part], statements[-part:]))
        # The quickest tenth of each: what others do on the machine meanwhile is not our slowness.
        quick, quick_late = (statistics.quantiles(some, n=10)[0] for some in (took[:part], took[-part:]))
        self.counts["messages in a row"] = messages
        self.counts["longest quick answer at first, ms"] = round(quick)
        self.counts["longest quick answer in the end, ms"] = round(quick_late)
        self.counts["longest quick answer at first, statements"] = early
        self.counts["longest quick answer in the end, statements"] = late
        wrong = [f"{early} statements a message at first, {late} after {messages} messages"] if late > early else []
        if quick_late > 2 * quick + 50:
            wrong.append(f"{quick:.0f} ms at first, {quick_late:.0f} ms after {messages} messages")
        return wrong

    async def _statements(self, instance: Instance) -> int:
        _, page = await ask(instance.port, "GET", "/metrics", self.stage.key)
        found = re.search(r"^callgate_store_statements_total (\d+)$", page, re.MULTILINE)
        return int(found[1]) if found else 0
