"""The same hour given to several: what each has made of it, field by field."""

import asyncio
import json
import time
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from .client import Client
from .hour import Entry, world
from .process import TOKEN, peers

Notes = dict[int, dict[str, Any]]
# Seconds; on a busy machine somebody may be slow to write.
_SETTLED = 2.0


def read(path: Path, entries: Iterable[Entry]) -> Notes:
    """By the second of the event; what is not of the hour is left out."""
    seconds = {entry.event["time"] for entry in entries}
    noted = map(json.loads, path.read_text().splitlines())
    return {note["time"]: note for note in noted if note["time"] in seconds}


async def live_through(
    url: str, notes: Callable[[], Path], entries: list[Entry], message_format: str, token: str = TOKEN
) -> Client:
    """Emits every event and waits until nothing more is written down. The client is open still."""
    client = Client(world(), token=token, message_format=message_format)
    await client.connect(url)
    for entry in entries:
        await client.emit(entry.event)
    await quiet(notes)
    return client


async def quiet(path: Callable[[], Path]) -> None:
    """Until a file has not grown for a while."""
    size, since = -1, time.monotonic()
    while time.monotonic() - since < _SETTLED:
        await asyncio.sleep(0.05)
        grown = path().stat().st_size if path().exists() else 0
        if grown != size:
            size, since = grown, time.monotonic()


async def ask_peers(folder: Path, entries: list[Entry], message_format: str) -> dict[str, Notes]:
    found = {}
    async with AsyncExitStack() as running:
        for peer in peers(folder):
            await running.enter_async_context(peer)
            client = await live_through(peer.url, lambda peer=peer: peer.notes, entries, message_format)
            await client.close()
            found[peer.name] = read(peer.notes, entries)
    return found


def differences(entries: list[Entry], one: Notes, other: Notes) -> dict[str, dict[str, tuple[Any, Any]]]:
    """By label, then by field: the value of either; an event that one has not is the field `event`."""
    found: dict[str, dict[str, tuple[Any, Any]]] = {}
    for entry in entries:
        ours, theirs = one.get(entry.event["time"]), other.get(entry.event["time"])
        if ours is None or theirs is None:
            if ours is not theirs:
                found[entry.label] = {"event": (ours is not None, theirs is not None)}
            continue
        fields = {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name] and name != "fields"}
        for name in {**ours["fields"], **theirs["fields"]}:
            values = ours["fields"].get(name), theirs["fields"].get(name)
            if values[0] != values[1]:
                fields[f"fields.{name}"] = values
        if fields:
            found[entry.label] = fields
    return found


EXPLAINED = {
    "text in pieces": "aiocqhttp joins texts that follow each other",
    "shake without data": "NoneBot gives a segment without data an empty one",
    "shake with null": "NoneBot drops a message with a segment whose data is null",
    "numbers as words": "NoneBot makes numbers of ids, aiocqhttp leaves them as they came",
    "sent by the bot": "NoneBot has no model for messages that the bot itself sent, and leaves them whole",
}
"""Why the two frameworks differ, by what a label ends with."""


def unexplained(found: dict[str, dict[str, tuple[Any, Any]]]) -> list[str]:
    return [label for label in found if not label.endswith(tuple(EXPLAINED))]
