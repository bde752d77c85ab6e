"""Somebody who listens to one conversation and comes back, whenever cut off, with the id of what was last heard."""

import asyncio
import json
import random
from collections import Counter
from typing import Any

from . import words
from .instance import Instance
from .web import open_request, read_head

# A stream is left after so many seconds at the latest, to come back elsewhere.
_PATIENCE = 20.0


class Listener:
    def __init__(self, session: str, instances: list[Instance], key: str, seed: int):
        self.session = session
        self.instances = instances
        self.key = key
        self.random = random.Random(seed)
        # By instance, as a number means something only to whoever gave it.
        self.last: dict[int, str] = {}
        self.ids: Counter[str] = Counter()
        self.messages: set[str] = set()
        self.heard: Counter[str] = Counter()
        self.returns = 0

    async def run(self) -> None:
        while True:
            instance = self.random.choice(self.instances)
            try:
                await asyncio.wait_for(self._listen(instance), self.random.uniform(3, _PATIENCE))
            except (OSError, EOFError, TimeoutError, IndexError, ValueError):
                self.returns += 1
            await asyncio.sleep(self.random.uniform(0.05, 0.4))

    async def _listen(self, instance: Instance) -> None:
        headers = {"authorization": f"Bearer {self.key}"}
        if last := self.last.get(instance.port):
            headers["last-event-id"] = last
        path = f"/api/events?session={self.session}&topics=turns"
        reader, writer = await open_request(instance.port, "GET", path, headers)
        try:
            first, _ = await read_head(reader)
            if " 200 " not in first:
                return
            event: dict[str, str] = {}
            while line := await reader.readline():
                name, _, value = line.decode().strip().partition(": ")
                if value:
                    event[name] = value
                elif event:
                    self._hear(instance.port, event)
                    event = {}
        finally:
            writer.close()

    def _hear(self, port: int, event: dict[str, str]) -> None:
        if "id" not in event:
            return
        self.last[port] = event["id"]
        self.ids[event["id"]] += 1
        envelope: dict[str, Any] = json.loads(event["data"])
        message = envelope["event"].get("message")
        if message is None:
            return
        # The same at every attempt to deliver it: who has heard it passes over it.
        name = envelope.get("id")
        if name is not None and str(name) in self.messages:
            return
        self.messages.add(str(name))
        for answer in words.answers(json.dumps(message["parts"])):
            self.heard.update(answer.names)

    def twice(self) -> list[str]:
        ids = [f"event {name} in {self.session}" for name, times in self.ids.items() if times > 1]
        return ids + [f"answer to {name} in {self.session}" for name, times in self.heard.items() if times > 1]
