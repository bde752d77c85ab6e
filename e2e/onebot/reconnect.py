"""An implementation whose network broke connects again before the old connection is found dead. Whoever listens has
two sockets of one account then, and the older one ends last."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from aiohttp import WSServerHandshakeError

from .client import Client
from .hour import ALICE, world
from .segments import text

# Until it is certain that nobody answers.
NEVER = 2.0
_LONG = 60.0


@dataclass(frozen=True)
class Outcome:
    """`second` is what became of the second connection, `seconds` when something came by it after the first had closed."""

    second: str
    seconds: float | None

    @property
    def works(self) -> bool:
        return self.seconds is not None and self.seconds < 1.0


def asking(words: str, message_id: int, self_id: int, **fields: Any) -> dict[str, Any]:
    """Somebody writes to the bot in private."""
    return {
        "time": int(time.time()), "self_id": self_id, "post_type": "message", "message_type": "private",
        "sub_type": "friend", "message_id": message_id, "message_seq": message_id, "real_id": message_id,
        "user_id": ALICE, "message": [text(words)], "raw_message": words, "message_format": "array", "font": 14,
        "sender": {"user_id": ALICE, "nickname": "Alice", "card": ""}, **fields,
    }  # fmt: skip


async def reconnect(url: str, token: str, never: float = NEVER) -> Outcome:
    client = Client(world(), token=token)
    try:
        first = await client.connect(url)
        await _answered(client, 1, _LONG)
        try:
            second = await client.connect(url)
        except WSServerHandshakeError as error:
            await first.close()
            return Outcome(f"refused, {error.status}", None)
        await asyncio.sleep(0.2)
        if second.closed:
            return Outcome(f"closed, {second.close_code}", None)
        await first.close()
        began = time.monotonic()
        try:
            await _answered(client, 10_000, never)
        except TimeoutError:
            return Outcome("accepted", None)
        return Outcome("accepted", time.monotonic() - began)
    finally:
        await client.close()


async def _answered(client: Client, first_id: int, seconds: float) -> None:
    """Asks ten times a second, until an answer comes."""
    before = len(client.world.sent)
    for message_id in range(first_id, first_id + int(seconds * 10)):
        await client.emit(asking("echo are you there?", message_id, client.world.self_id))
        try:
            await client.wait_until(lambda: len(client.world.sent) > before, 0.1)
            return
        except TimeoutError:
            pass
    raise TimeoutError
