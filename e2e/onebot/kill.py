"""Killed between a message and the record of it: how often people see the message is counted by the QQ side."""

from dataclasses import dataclass
from pathlib import Path

from .callgate import Callgate
from .client import Client
from .hour import world
from .reconnect import asking

POINTS = ("outbox.after_intent", "outbox.after_delivery", "outbox.after_receipt")
_HISTORY = {"get_friend_msg_history", "get_group_msg_history", "get_msg"}


@dataclass(frozen=True)
class Seen:
    """What people saw of the message during which it was killed, and of the next one."""

    died: bool
    first: int
    next: int
    told: list[str]
    """What the operator is shown as neither sent nor unsent."""


async def kill_at(binary: str, folder: Path, point: str, *, history: bool) -> Seen:
    """With or without a history to look at, which not every program has."""
    there = world()
    there.without = set() if history else _HISTORY
    instance = Callgate(binary, folder)
    instance.say("first", 10)
    await instance.start(crash_at=point)
    client = Client(there, token=instance.token)
    try:
        await client.connect(instance.url)
        await client.emit(asking("hello", 1, there.self_id))
        died = await instance.ended()
        await client.drop()
        await instance.stop()
        instance.say("next", 10)
        await instance.start()
        await client.connect(instance.url)
        await client.emit(asking("and again", 2, there.self_id))
        await client.wait_until(lambda: "next 0" in _texts(client), 120)
        # What is left of the first has come by then, or never does: a chat's messages keep their order.
        texts = _texts(client)
        return Seen(died, texts.count("first 0"), texts.count("next 0"), await instance.unknown())
    finally:
        await client.close()
        await instance.stop()


def _texts(client: Client) -> list[str]:
    return [sent.text for sent in client.world.sent]
