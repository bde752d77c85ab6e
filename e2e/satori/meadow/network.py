"""A chat network behind satori-python's server: people, channels, what was said, and the witness of what the bot said."""

import asyncio
import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from satori import Api, Channel, ChannelType, Event, EventType, Guild, Login, Member, MessageObject, User
from satori.element import Element, transform
from satori.exception import ActionFailed, ForbiddenException, NotFoundException
from satori.parser import parse
from satori.server import Adapter, Request, Response

GROUP, OTHER_GROUP = "garden", "cellar"
GUILD = "house"
ALICE, BOB = "1001", "1002"


class Fault(Enum):
    """What happens to a message instead of an answer."""

    REFUSE = "it is refused, and not said"
    FAIL_AFTER = "it is said, and the server fails"
    FAIL_BEFORE = "it is not said, and the server fails"
    BUSY = "too many requests: once more in a second"


@dataclass(frozen=True)
class Sent:
    """A message that people in `channel` now see."""

    login: str
    channel: str
    elements: list[Element]
    message_id: str
    referrer: Any = None

    @property
    def text(self) -> str:
        return "".join("\n" if element.tag == "br" else element.dumps(True) for element in self.elements)


@dataclass
class Network(Adapter):
    """One that the server calls `name`, with these bots."""

    name: str = "meadow"
    bots: tuple[str, ...] = ("9001",)
    # Methods that this network has not, as many have not.
    without: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.people = {ALICE: User(ALICE, "alice", "Alice"), BOB: User(BOB, "bob")}
        self.guild = Guild(GUILD, "House")
        self.sent: list[Sent] = []
        self.done: list[tuple[str, dict[str, Any]]] = []
        self.history: dict[str, MessageObject] = {}
        self.planned: list[Fault] = []
        self.files: dict[str, bytes] = {}
        self.news = asyncio.Condition()
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._ids = itertools.count(1)
        for path, perform in (
            (Api.MESSAGE_CREATE, self._create), (Api.MESSAGE_GET, self._get), (Api.MESSAGE_LIST, self._list),
            (Api.CHANNEL_GET, self._channel), (Api.GUILD_GET, self._guild), (Api.GUILD_MEMBER_GET, self._member),
            (Api.GUILD_MEMBER_LIST, self._members), (Api.USER_GET, self._user),
            *((api, self._just_done) for api in (Api.GUILD_MEMBER_MUTE, Api.GUILD_MEMBER_KICK, Api.MESSAGE_DELETE,
                                                 Api.REACTION_CREATE, Api.CHANNEL_MUTE)),
        ):  # fmt: skip
            self.route(path)(self._unless_without(path.value, perform))

    def __hash__(self) -> int:
        return id(self)

    # What the server asks of an adapter.

    @property
    def required(self) -> set[str]:
        return set()

    @property
    def stages(self) -> set[str]:
        return {"blocking"}

    async def launch(self, manager: Any) -> None:
        async with self.stage("blocking"):
            await manager.status.wait_for_sigexit()

    def get_platform(self) -> str:
        return self.name

    def ensure(self, platform: str, self_id: str) -> bool:
        return platform == self.name and self_id in self.bots

    @staticmethod
    def proxy_urls() -> list[str]:
        return ["http://files.meadow.invalid/"]

    async def handle_internal(self, request: Request, path: str) -> Response:
        return Response(self.files[path])

    async def handle_proxied(self, prefix: str, url: str) -> Response:
        return Response(self.files[url.removeprefix(prefix)])

    async def get_logins(self) -> list[Login]:
        return [self._login(bot) for bot in self.bots]

    def _login(self, bot: str) -> Login:
        return Login(sn=self.bots.index(bot), adapter="test", platform=self.name, user=User(bot, "callgate", is_bot=True))

    async def publisher(self):
        while True:
            yield await self._events.get()

    # What people do.

    async def tell(self, event_type: str, *, channel: str | None, user: str = ALICE, bot: str = "", **more: Any) -> None:
        guild = self.guild if channel in (GROUP, OTHER_GROUP) else None
        nick = "Alice of the garden" if user == ALICE and guild else None
        await self._events.put(
            Event(
                event_type, datetime.now(), self._login(bot or self.bots[0]), channel=channel and self.channel(channel),
                guild=guild, user=self.person(user), member=Member(nick=nick) if guild else None, **more,
            )  # fmt: skip
        )

    async def say(self, channel: str, content: str, user: str = ALICE, bot: str = "", **more: Any) -> str:
        """The message's id; `content` as satori-python writes elements."""
        message = self._keep(channel, content, self.person(user))
        await self.tell(EventType.MESSAGE_CREATED, channel=channel, user=user, bot=bot, message=message, **more)
        return message.id

    async def edit(self, channel: str, message_id: str, content: str) -> None:
        self.history[message_id].content = content
        message = MessageObject(message_id, content, user=self.person(ALICE))
        await self.tell(EventType.MESSAGE_UPDATED, channel=channel, message=message)

    async def recall(self, channel: str, message_id: str) -> None:
        del self.history[message_id]
        await self.tell(EventType.MESSAGE_DELETED, channel=channel, message=MessageObject(message_id))

    def person(self, user: str) -> User:
        return self.people.get(user) or User(user, f"person {user}")

    def channel(self, channel: str) -> Channel:
        if channel.startswith("private:"):
            return Channel(channel, ChannelType.DIRECT)
        return Channel(channel, ChannelType.TEXT, channel.title())

    def _keep(self, channel: str, content: str, user: User) -> MessageObject:
        message = MessageObject(
            f"m{next(self._ids)}", content, channel=self.channel(channel), user=user, created_at=datetime.now()
        )
        self.history[message.id] = message
        return message

    # What the bot does.

    def _unless_without(self, name: str, perform: Callable) -> Callable:
        async def asked(request: Request) -> Any:
            if name in self.without:
                raise NotFoundException(f"{name} is not supported")
            return await perform(request)

        return asked

    async def _create(self, request: Request) -> Any:
        fault = self.planned.pop(0) if self.planned else None
        match fault:
            case Fault.REFUSE:
                raise ForbiddenException("nobody may speak here")
            case Fault.FAIL_BEFORE:
                raise RuntimeError("it broke before")
            case Fault.BUSY:
                return Response(status_code=429, headers={"Retry-After": "1"})
        channel, content = request.params["channel_id"], request.params["content"]
        elements = transform(parse(content))
        if not elements:
            raise ActionFailed("the message is empty")
        message = self._keep(channel, content, User(request.self_id, "callgate"))
        self.sent.append(Sent(request.self_id, channel, elements, message.id, request.params.get("referrer")))
        async with self.news:
            self.news.notify_all()
        if fault is Fault.FAIL_AFTER:
            raise RuntimeError("it broke after")
        return [message]

    async def _get(self, request: Request) -> Any:
        return self._found(self.history, request.params["message_id"])

    async def _list(self, request: Request) -> Any:
        channel = request.params["channel_id"]
        said = [message.dump() for message in self.history.values() if message.channel and message.channel.id == channel]
        return {"data": said[-int(request.params.get("limit", 50)) :]}

    async def _channel(self, request: Request) -> Any:
        return self.channel(request.params["channel_id"])

    async def _guild(self, request: Request) -> Any:
        return self._found({GUILD: self.guild}, request.params["guild_id"])

    async def _member(self, request: Request) -> Any:
        return Member(user=self._found(self.people, request.params["user_id"]))

    async def _members(self, request: Request) -> Any:
        return {"data": [Member(user=user).dump() for user in self.people.values()]}

    async def _user(self, request: Request) -> Any:
        return self._found(self.people, request.params["user_id"])

    async def _just_done(self, request: Request) -> None:
        self.done.append((request.action, dict(request.params)))
        async with self.news:
            self.news.notify_all()

    @staticmethod
    def _found(things: dict[str, Any], name: str) -> Any:
        if name not in things:
            raise NotFoundException(f"there is no {name}")
        return things[name]

    # What is seen.

    async def until(self, seen: Callable[[], Any], seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds), self.news:
                await self.news.wait_for(seen)
                return
        raise AssertionError(f"not seen in {seconds} s; sent: {[(sent.channel, sent.text) for sent in self.sent]}")

    async def answer(self, channel: str, number: int = 1, seconds: float = 120.0) -> Sent:
        """The message with that number in the channel."""
        await self.until(lambda: len(self.in_channel(channel)) >= number, seconds)
        return self.in_channel(channel)[number - 1]

    def in_channel(self, channel: str) -> list[Sent]:
        return [sent for sent in self.sent if sent.channel == channel]

    def counts(self) -> Counter[str]:
        return Counter(sent.channel for sent in self.sent)


def now() -> int:
    return int(time.time() * 1000)
