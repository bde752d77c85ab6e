"""Killed between a message and the record of it, and in the midst of what people say: how often people see what was said
is counted by Telegram's side."""

import asyncio
import random
from dataclasses import dataclass
from pathlib import Path

from .callgate import Callgate
from .server import Server
from .world import ANN, World

POINTS = ("outbox.after_intent", "outbox.after_delivery", "outbox.after_receipt")


@dataclass(frozen=True)
class Seen:
    """What people saw of the message during which it was killed, and of the next one."""

    died: bool
    first: int
    next: int
    told: list[str]
    """What the operator is shown as neither sent nor unsent."""


async def kill_at(binary: str, folder: Path, point: str) -> Seen:
    world = World()
    server = Server(world)
    instance = Callgate(binary, folder, world.token)
    instance.say("first", 10)
    async with server.serve() as address:
        try:
            await instance.start(address, crash_at=point)
            await world.say("hello")
            died = await instance.ended()
            await instance.stop()
            instance.say("next", 10)
            await instance.start(address)
            await world.say("and again")
            await world.until(lambda: "next 0" in world.texts(ANN["id"]), 120)
            # What is left of the first has come by then, or never does: a chat's messages keep their order.
            texts = world.texts(ANN["id"])
            return Seen(died, texts.count("first 0"), texts.count("next 0"), await instance.unknown())
        finally:
            await instance.stop()


@dataclass(frozen=True)
class Storm:
    people: int
    kills: int
    seen: dict[int, int]
    """Answers by person, each of whom asked once."""
    told: int
    kept: int
    """Messages of people on record."""


async def storm(binary: str, folder: Path, *, people: int, kills: int, webhook: bool) -> Storm:
    """Everybody says one thing, while we are killed again and again."""
    world = World()
    server = Server(world)
    instance = Callgate(binary, folder, world.token, webhook=webhook)
    crowd = [{"id": 5000 + number, "is_bot": False, "first_name": f"P{number}"} for number in range(people)]
    for person in crowd:
        world.chats[person["id"]] = {"id": person["id"], "type": "private", "first_name": person["first_name"]}
    chance = random.Random(7)
    async with server.serve() as address:
        try:
            await instance.start(address)

            async def talk() -> None:
                for person in crowd:
                    await world.say("hello", sender=person)
                    await asyncio.sleep(0.05)

            talking = asyncio.create_task(talk())
            for _ in range(kills):
                await asyncio.sleep(0.2 + chance.random() * 0.6)
                await instance.stop()
                await instance.start(address)
            await talking
            told: list[str] = []

            def answered() -> int:
                return sum(1 for person in crowd if world.texts(person["id"]))

            async with asyncio.timeout(120):
                while answered() + len(told) < people:
                    await asyncio.sleep(0.2)
                    told = await instance.unknown()
            await asyncio.sleep(1)
            sessions = await instance.command("session", "list")
            kept = sum(1 for one in sessions if str(one.get("session") or one).startswith("tg:FriendMessage:5"))
            seen = {person["id"]: len(world.texts(person["id"])) for person in crowd}
            return Storm(people, kills, seen, len(await instance.unknown()), kept)
        finally:
            await instance.stop()
