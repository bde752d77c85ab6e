"""Telegram's side: people, chats and topics, messages with their ids, files, and the updates that wait for a bot.

Ids are as Telegram gives them: one row of numbers for a bot's private chats and groups, one of its own for each
supergroup and channel. An update waits until the bot asks from behind it."""

import asyncio
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .marks import entities

BOT = {"id": 4242, "is_bot": True, "first_name": "Gate", "username": "gate_test_bot"}
ANN = {"id": 1001, "is_bot": False, "first_name": "Ann", "last_name": "Bell", "username": "ann_bell"}
BOB = {"id": 1002, "is_bot": False, "first_name": "Bob"}
GROUP = {"id": -55, "type": "group", "title": "Town"}
FORUM = {"id": -1001000000007, "type": "supergroup", "title": "Hall", "is_forum": True}
CHANNEL = {"id": -1001000000009, "type": "channel", "title": "News"}


@dataclass(frozen=True)
class Sent:
    """What a bot was seen to do in a chat."""

    chat: int
    method: str
    text: str
    message: dict[str, Any]
    bytes: bytes = b""


@dataclass
class World:
    token: str = "4242:AAtest-token_0123456789"
    chats: dict[int, dict[str, Any]] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    waiting: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Updates by their ids."""
    messages: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """Name and bytes by file id."""
    downloads: list[str] = field(default_factory=list)
    shown: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Typing and drafts, which leave nothing behind."""
    commands: list[dict[str, Any]] | None = None
    done: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """What a bot did to people, messages and chats."""
    gone: dict[int, int] = field(default_factory=dict)
    """Groups that are supergroups now."""

    def __post_init__(self) -> None:
        for person in (ANN, BOB):
            self.chats[person["id"]] = private(person)
        for chat in (GROUP, FORUM, CHANNEL):
            self.chats[chat["id"]] = chat
        self._update_ids = itertools.count(700_000)
        self._ids: dict[int, itertools.count] = {}
        self._file_ids = itertools.count(1)
        self.changed = asyncio.Condition()

    def message_id(self, chat: int) -> int:
        row = chat if chat < -1_000_000_000 else 0
        return next(self._ids.setdefault(row, itertools.count(1)))

    async def tell(self, **update: Any) -> int:
        """An update for the bot; its id."""
        async with self.changed:
            id = next(self._update_ids)
            self.waiting[id] = {"update_id": id, **update}
            self.changed.notify_all()
        return id

    def message(self, sender: dict[str, Any], chat: int, **content: Any) -> dict[str, Any]:
        made = {"message_id": self.message_id(chat), "date": int(time.time()), "chat": self.chats[chat], **content}
        if self.chats[chat]["type"] == "channel":
            made["sender_chat"] = self.chats[chat]
        else:
            made["from"] = sender
        for words, marks in (("text", "entities"), ("caption", "caption_entities")):
            if words in made and marks not in made and (found := entities(made[words])):
                made[marks] = found
        self.messages[chat, made["message_id"]] = made
        return made

    async def say(self, text: str, *, sender: dict[str, Any] = ANN, chat: int | None = None, **content: Any) -> dict:
        """Somebody writes; in private where no chat is named."""
        return await self.post(sender, chat, text=text, **content)

    async def post(self, sender: dict[str, Any], chat: int | None = None, **content: Any) -> dict[str, Any]:
        chat = sender["id"] if chat is None else chat
        made = self.message(sender, chat, **content)
        kind = "channel_post" if self.chats[chat]["type"] == "channel" else "message"
        await self.tell(**{kind: made})
        return made

    async def edit(self, message: dict[str, Any], text: str) -> None:
        made = {**message, "text": text, "edit_date": int(time.time())}
        made.pop("entities", None)
        await self.tell(edited_message=made)

    def keep(self, name: str, content: bytes) -> dict[str, Any]:
        """A file as messages name it."""
        id = f"file-{next(self._file_ids)}"
        self.files[id] = (name, content)
        return {"file_id": id, "file_unique_id": f"u-{id}", "file_size": len(content)}

    def photo(self, content: bytes) -> list[dict[str, Any]]:
        small = self.keep("small.jpg", b"small")
        return [{**small, "width": 90, "height": 60}, {**self.keep("photo.jpg", content), "width": 900, "height": 600}]

    async def migrate(self, old: int, new: int) -> None:
        """A group becomes a supergroup; both chats say so."""
        self.chats[new] = {**self.chats[old], "id": new, "type": "supergroup"}
        self.gone[old] = new
        await self.tell(message=self.message(ANN, old, migrate_to_chat_id=new))
        await self.tell(message=self.message(ANN, new, migrate_from_chat_id=old))

    def see(self, method: str, chat: int, text: str, message: dict[str, Any], content: bytes = b"") -> None:
        self.sent.append(Sent(chat, method, text, message, content))

    def texts(self, chat: int) -> list[str]:
        return [sent.text for sent in self.sent if sent.chat == chat]

    async def until(self, happened: Callable[[], Any], seconds: float = 60.0) -> None:
        async with asyncio.timeout(seconds):
            while not happened():
                await asyncio.sleep(0.02)


def private(person: dict[str, Any]) -> dict[str, Any]:
    names = {name: person[name] for name in ("first_name", "last_name", "username") if name in person}
    return {"id": person["id"], "type": "private", **names}
