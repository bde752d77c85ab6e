"""Messages a second from a OneBot socket to the answer: Callgate with a model that answers at once beside the echo of
frameworks that keep nothing, in one alternating run.

    python3 -m onebot bench [--rounds N] [--messages N] [--chats N]
"""

import asyncio
import statistics
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .callgate import Callgate
from .client import Client
from .hour import world
from .process import peers
from .reconnect import asking


@dataclass
class Contestant:
    name: str
    client: Client
    rates: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)


async def run(binary: str, folder: Path, rounds: int, messages: int, chats: int) -> dict[str, Any]:
    async with AsyncExitStack() as running:
        instance = Callgate(binary, folder / "callgate", said=(rounds + 1) * messages + 1)
        contestants = []
        for listening in (instance, *peers(folder)):
            await running.enter_async_context(listening)
            client = Client(world(), token=listening.token)
            running.push_async_callback(client.close)
            await client.connect(listening.url)
            contestants.append(Contestant(listening.name, client))
        for contestant in contestants:
            await _round(contestant, messages, chats, 0)
            contestant.rates.clear()
            contestant.milliseconds.clear()
        for number in range(1, rounds + 1):
            for contestant in contestants:
                await _round(contestant, messages, chats, number)
    return {
        one.name: {
            "messages_per_second": [round(rate, 1) for rate in one.rates],
            "median_messages_per_second": round(statistics.median(one.rates), 1),
            "median_milliseconds": round(statistics.median(one.milliseconds), 2),
        }
        for one in contestants
    }


async def _round(contestant: Contestant, messages: int, chats: int, number: int) -> None:
    """Each chat's next message follows the answer to the one before."""
    began = time.perf_counter()
    share = messages // chats
    first = 1 + number * messages
    await asyncio.gather(*(_chat(contestant, 30_001 + chat, first + chat * share, share) for chat in range(chats)))
    contestant.rates.append(share * chats / (time.perf_counter() - began))


async def _chat(contestant: Contestant, user_id: int, first: int, messages: int) -> None:
    client = contestant.client
    for message_id in range(first, first + messages):
        began = time.perf_counter()
        sender = {"user_id": user_id, "nickname": f"P{user_id}", "card": ""}
        answer = client.expect(f"private {user_id}")
        await client.emit(asking(f"echo {message_id}", message_id, client.world.self_id, user_id=user_id, sender=sender))
        await asyncio.wait_for(answer, 60)
        contestant.milliseconds.append((time.perf_counter() - began) * 1000)
