"""The hour given to Callgate: what a plugin sees of each event, held against what it would see in AstrBot."""

import asyncio
import json
from pathlib import Path
from typing import Any

from .callgate import Callgate
from .client import Client
from .compare import Notes, live_through
from .contract import components, mismatch
from .hour import Entry, world
from .reconnect import asking

_NO_CHAT = "it happens in no chat"
UNHEARD = {
    "meta_event": "it is about the connection",
    "sent by the bot": "the bot's own words are no news to it",
    "of QQ itself": "AstrBot drops the messages of QQ's own account, and so may we",
    "notice.client_status": _NO_CHAT,
    "notice.online_file": _NO_CHAT,
    "notice.notify.profile_like": _NO_CHAT,
}
"""What plugins need not hear of, by a part of the label, and why."""


async def ask_ours(binary: str, folder: Path, entries: list[Entry], message_format: str) -> tuple[Notes, Client]:
    """By the second of the event; the client is closed, and knows what it was asked."""
    async with Callgate(binary, folder, plugin=True) as instance:
        await _heard(instance)
        client = await live_through(instance.url, lambda: instance.notes, entries, message_format, instance.token)
        await client.close()
        lines = map(json.loads, instance.notes.read_text().splitlines())
        return {note["raw"]["time"]: note for note in lines}, client


async def _heard(instance: Callgate) -> None:
    """Until the plugin is there: it is started with the first message."""
    client = Client(world(), token=instance.token)
    await client.connect(instance.url)
    await client.emit(asking("are you there?", 1, client.world.self_id))
    async with asyncio.timeout(120):
        while not instance.notes.exists():
            await asyncio.sleep(0.1)
    await client.close()


def wrong(entries: list[Entry], ours: Notes, theirs: Notes, client: Client) -> dict[str, list[str]]:
    """Label: what a plugin sees otherwise. `theirs` has the parts as aiocqhttp has taken them."""
    found = {}
    for entry in entries:
        note = ours.get(entry.event["time"])
        if note is None:
            unheard = any(words in entry.label for words in UNHEARD)
            complaints = [] if unheard else ["no plugin heard of it"]
        else:
            sent = json.loads(client.serialized(entry.event))
            complaints = list(_complaints(sent, note, theirs[entry.event["time"]]["parts"]))
        if complaints:
            found[entry.label] = complaints
    return found


def _complaints(event: dict[str, Any], note: dict[str, Any], parts: list[dict[str, Any]] | None):
    if note["raw"] != event:
        names = [name for name in {**event, **note["raw"]} if event.get(name) != note["raw"].get(name)]
        yield f"raw_message differs in {names}"
    for name, value in _expected(event).items():
        if note[name] != value:
            yield f"{name}: {value!r} expected, {note[name]!r} found"
    if event["post_type"] == "message":
        group_id = event.get("group_id") if event["message_type"] == "group" else None
        chain = [(name, fields) for name, fields in note["chain"]]
        made = components(parts or [], world(), group_id and int(group_id))
        if complaint := mismatch(made, chain):
            yield complaint


def _expected(event: dict[str, Any]) -> dict[str, Any]:
    is_message = event["post_type"] == "message"
    sender = event["sender"] if is_message else {"user_id": event.get("user_id"), "nickname": str(event.get("user_id"))}
    in_group = event["message_type"] == "group" if is_message else bool(event.get("group_id"))
    kind, chat = ("GroupMessage", event.get("group_id")) if in_group else ("FriendMessage", sender["user_id"])
    expected = {
        "raw_class": "aiocqhttp.event.Event", "event": "AiocqhttpMessageEvent", "kinds": [event["post_type"]] * 3 + [None],
        "platform": ["aiocqhttp", "qq", "aiocqhttp"], "bot": True, "type": kind,
        "origin": f"qq:{kind}:{chat}", "session_id": str(chat), "self_id": str(event["self_id"]),
        "group_id": str(chat) if in_group else "", "sender_id": str(sender["user_id"]),
        "sender_name": sender.get("card") or sender["nickname"],
    }  # fmt: skip
    if is_message:
        expected |= {"message_id": str(event["message_id"]), "group_name": event.get("group_name")}
    elif event.get("sub_type") == "poke":
        expected["chain"] = [["Poke", {"id": int(event["target_id"]), "qq": 0}]]
    else:
        expected |= {"chain": [], "message_str": ""}
    return expected
