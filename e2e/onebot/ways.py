"""The four ways in which a OneBot program and whoever drives it are connected."""

from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Protocol

from .client import Client


class Listening(Protocol):
    """Where a framework, or we, can be found."""

    url: str
    webhook: str


class Way(Enum):
    REVERSE = "reverse WebSocket"
    APART = "reverse WebSockets, one for actions and one for events"
    FORWARD = "forward WebSocket"
    HTTP = "HTTP and webhook"

    async def address(self, client: Client) -> str:
        """Where the client can be reached before anybody knows of it; empty where it is the one that calls."""
        if self not in (Way.FORWARD, Way.HTTP):
            return ""
        return f"{'ws' if self is Way.FORWARD else 'http'}://127.0.0.1:{await client.listen()}"

    async def connect(self, client: Client, listening: Listening) -> None:
        steps: dict[Way, Callable[[], Awaitable[object]]] = {
            Way.REVERSE: lambda: client.connect(listening.url),
            Way.APART: lambda: _apart(client, listening),
            Way.FORWARD: client.followed,
            Way.HTTP: lambda: client.post_to(listening.webhook),
        }
        await steps[self]()


async def _apart(client: Client, listening: Listening) -> None:
    for role in ("API", "Event"):
        await client.connect(listening.url, role)
