"""Somebody with a Matrix client: matrix-nio says and reads everything."""

import asyncio
import io
import time
from collections.abc import Callable
from typing import Any

import nio

LONG = 120.0
"""Seconds after which something has hung."""


class Person:
    def __init__(self, client: nio.AsyncClient):
        self.client = client
        self.id = client.user_id
        self.token = client.access_token

    @classmethod
    async def register(cls, url: str, account: str, password: str) -> "Person":
        client = nio.AsyncClient(url, account)
        made = await client.register(account, password)
        assert isinstance(made, nio.RegisterResponse), made
        return cls(client)

    async def room(self, *invited: str, name: str = "", direct: bool = False, **more: Any) -> str:
        made = await self.client.room_create(name=name or None, is_direct=direct, invite=invited, **more)
        assert isinstance(made, nio.RoomCreateResponse), made
        return made.room_id

    async def join(self, room: str) -> None:
        joined = await self.client.join(room)
        assert isinstance(joined, nio.JoinResponse), joined

    async def say(self, room: str, body: str, /, *, kind: str = "m.room.message", **content: Any) -> str:
        content = content if kind != "m.room.message" else {"msgtype": "m.text", "body": body, **content}
        sent = await self.client.room_send(room, kind, content)
        assert isinstance(sent, nio.RoomSendResponse), sent
        return sent.event_id

    async def ask(self, room: str, bot: str, body: str, **content: Any) -> str:
        """Speaks to the bot by name."""
        return await self.say(room, body, **{"m.mentions": {"user_ids": [bot]}, **content})

    async def upload(self, room: str, msgtype: str, name: str, kind: str, data: bytes, **content: Any) -> str:
        uploaded, _ = await self.client.upload(io.BytesIO(data), kind, name, filesize=len(data))
        assert isinstance(uploaded, nio.UploadResponse), uploaded
        info = {"mimetype": kind, "size": len(data)}
        return await self.say(room, content.pop("body", name), msgtype=msgtype, url=uploaded.content_uri, info=info, **content)

    async def download(self, address: str) -> bytes:
        got = await self.client.download(address)
        assert isinstance(got, nio.DownloadResponse), got
        return got.body

    async def history(self, room: str) -> list[dict[str, Any]]:
        """Every event of the room, the oldest first."""
        events: list[dict[str, Any]] = []
        token = ""
        while True:
            page = await self.client.room_messages(room, token or None, limit=500)
            assert isinstance(page, nio.RoomMessagesResponse), page
            events += [event.source for event in page.chunk]
            if not page.end or page.end == token or not page.chunk:
                return events[::-1]
            token = page.end

    async def said_by(self, sender: str, room: str) -> list[dict[str, Any]]:
        """The messages of one account."""
        events = await self.history(room)
        return [it for it in events if it["sender"] == sender and it["type"] == "m.room.message" and it["content"]]

    async def texts_by(self, sender: str, room: str) -> list[str]:
        return [event["content"]["body"] for event in await self.said_by(sender, room)]

    async def wait(self, room: str, is_there: Callable[[list[dict[str, Any]]], Any], seconds: float = LONG) -> Any:
        """What the room's history has to say, once it does."""
        until = time.monotonic() + seconds
        while True:
            history = await self.history(room)
            if found := is_there(history):
                return found
            if time.monotonic() > until:
                bodies = [(it["sender"], it["type"], it["content"].get("body", "")[:80]) for it in history[-20:]]
                raise TimeoutError(f"not seen in {seconds} s: {bodies}")
            await asyncio.sleep(0.1)

    async def hear(self, room: str, sender: str, count: int = 1, seconds: float = LONG) -> list[str]:
        """What `sender` has said there, as soon as that are so many messages."""

        def said(history: list[dict[str, Any]]) -> list[str]:
            texts = [it["content"]["body"] for it in history if it["sender"] == sender and it["type"] == "m.room.message"]
            return texts if len(texts) >= count else []

        return await self.wait(room, said, seconds)

    async def members(self, room: str) -> list[str]:
        joined = await self.client.joined_members(room)
        assert isinstance(joined, nio.JoinedMembersResponse), joined
        return sorted(member.user_id for member in joined.members)

    async def until_joined(self, room: str, account: str) -> None:
        async with asyncio.timeout(LONG):
            while account not in await self.members(room):
                await asyncio.sleep(0.1)
