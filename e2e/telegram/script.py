"""What people do with a bot, step by step, whoever the bot is: grammY's, by which this side is known to be right, and
ours. Each step ends when Telegram has seen what it is to see, and says so."""

import time
from dataclasses import dataclass, field
from typing import Protocol

from .server import Fault, Server
from .world import ANN, BOB, FORUM, GROUP, World

TOPIC = 7
JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256)) * 40


class Bot(Protocol):
    async def start(self, address: str = "") -> None: ...
    async def kill(self) -> None: ...
    async def send_back(self, name: str) -> None: ...


@dataclass
class Seen:
    """Messages of the bot in each step."""

    private: int = 0
    group: int = 0
    topic: list[int | None] = field(default_factory=list)
    returned: bytes = b""
    fetched: bool = False
    limited: int = 0
    limit_kept: float = 0.0
    resumed: int = 0
    asked_before: bool = False
    """Whether it asked who it is before anything else."""


async def play(world: World, server: Server, bot: Bot, address: str) -> Seen:
    seen = Seen()
    private = ANN["id"]
    await bot.start(address)

    await world.say("hello")
    await world.until(lambda: world.texts(private))
    seen.private = len(world.texts(private))
    seen.asked_before = server.asked[0][0] == "getMe"

    before = len(world.sent)
    picture = await world.post(ANN, photo=world.photo(JPEG), caption="look")
    large = picture["photo"][-1]["file_id"]
    await world.until(lambda: large in world.downloads)
    seen.fetched = True
    await bot.send_back("back.jpg")
    await world.until(lambda: any(sent.bytes for sent in world.sent))
    seen.returned = next(sent.bytes for sent in world.sent if sent.bytes)
    await world.until(lambda: len(world.sent) > before)

    await world.say("good morning", sender=BOB, chat=GROUP["id"])
    await world.say("@gate_test_bot good morning", sender=BOB, chat=GROUP["id"])
    await world.until(lambda: world.texts(GROUP["id"]))
    seen.group = len(world.texts(GROUP["id"]))

    topic = {"message_thread_id": TOPIC, "is_topic_message": True}
    await world.say("@gate_test_bot what is it?", chat=FORUM["id"], **topic)
    await world.until(lambda: world.texts(FORUM["id"]))
    seen.topic = [sent.message.get("message_thread_id") for sent in world.sent if sent.chat == FORUM["id"]]

    count = len(world.texts(BOB["id"]))
    server.plan("sendMessage", Fault.LIMIT, seconds=2)
    began = time.monotonic()
    await world.say("too fast", sender=BOB)
    await world.until(lambda: len(world.texts(BOB["id"])) > count)
    seen.limit_kept = time.monotonic() - began
    seen.limited = len(world.texts(BOB["id"])) - count

    await bot.kill()
    count = len(world.sent)
    # In three chats: what one person says in a row may be answered together.
    await world.say("one")
    await world.say("two", sender=BOB)
    await world.say("@gate_test_bot three", chat=GROUP["id"])
    await bot.start()
    await world.until(lambda: len(world.sent) >= count + 3)
    await world.say("four")
    await world.until(lambda: len(world.sent) >= count + 4)
    # What came twice would have come by now: a chat keeps its order.
    seen.resumed = len(world.sent) - count
    await bot.kill()
    return seen
