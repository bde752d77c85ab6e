"""Commands in the older, nonebot-like form; each becomes a command of its plugin."""

import inspect
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from nekro_agent import chat_keys, texts
from nekro_agent.adapters.onebot_v11.core.bot import get_bot
from nekro_agent.models.db_chat_channel import DBChatChannel
from nekro_agent.schemas.chat_message import ChatType
from nekro_agent.schemas.i18n import say
from nekro_agent.services.command.base import CommandPermission
from nekro_agent.services.command.ctl import CmdCtl
from nekro_agent.services.command.schemas import (
    Arg,
    CommandExecutionContext,
    CommandResponse,
    CommandResponseStatus,
)
from nekro_agent.services.plugin.base import NekroPlugin


class LegacyCommandFinished(Exception):
    """A handler is done, perhaps with a last word."""

    def __init__(self, response: CommandResponse | None = None) -> None:
        super().__init__(response.message if response else "")
        self.response = response


class LegacyBotUnavailable:
    """Stands in for the bot of a platform that is not connected."""

    def __getattr__(self, name: str) -> Any:
        get_bot()


class LegacyMessage:
    def __init__(self, text: str = "") -> None:
        self._text = text

    def extract_plain_text(self) -> str:
        return self._text

    def __str__(self) -> str:
        return self._text


@dataclass(slots=True)
class LegacySender:
    user_id: str
    nickname: str
    card: str
    role: str


class LegacyMessageEvent:
    def __init__(self, context: CommandExecutionContext, raw_args: str) -> None:
        self.context = context
        self.chat_key = context.chat_key
        kind = chat_keys.type_of(context.chat_key)
        self.chat_type = ChatType(kind) if kind in ("group", "private") else ChatType.UNKNOWN
        self.message_type = "group" if kind == "group" else "private"
        number = chat_keys.channel_of(context.chat_key).partition("_")[2]
        self.group_id = int(number) if kind == "group" and number.isdigit() else None
        self.user_id = context.user_id
        self.message = self.original_message = LegacyMessage(raw_args)
        role = "owner" if context.is_super_user else "member"
        self.sender = LegacySender(context.user_id, context.username, context.username, role)

    def get_user_id(self) -> str:
        return str(self.user_id)

    def get_plaintext(self) -> str:
        return self.message.extract_plain_text()


class LegacyMatcher:
    def __init__(self) -> None:
        self._said: list[CommandResponse] = []

    async def send(self, message: str = "", data: dict[str, Any] | None = None) -> None:
        self._said.append(CmdCtl.message(str(message), data=data))

    async def finish(
        self,
        message: str = "",
        *,
        data: dict[str, Any] | None = None,
        status: CommandResponseStatus = CommandResponseStatus.SUCCESS,
    ) -> None:
        is_silent = not message and data is None and status is CommandResponseStatus.SUCCESS
        response = None if is_silent else CommandResponse(status=status, message=str(message), data=data)
        raise LegacyCommandFinished(response)

    def drain(self) -> list[CommandResponse]:
        said, self._said = self._said, []
        return said


class LegacyCommandRegistration:
    """What `on_command` gives; `.handle()` decorates the handler."""

    def __init__(self, name: str, aliases: Iterable[Any] | None = None) -> None:
        self._name = name
        self._aliases = [it if isinstance(it, str) else ".".join(it) for it in aliases or ()]

    def handle(self, *_: Any, **__: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def decorator(func: Callable[..., Any]) -> Callable[..., Any]:
            plugin = _plugin_of(func)
            if plugin is None:
                raise RuntimeError(f"the command {self._name} stands in a module without a plugin object")
            lines = (func.__doc__ or self._name).strip().splitlines()

            @plugin.mount_command(
                self._name, lines[0] if lines else self._name, self._aliases, CommandPermission.PUBLIC
            )
            async def run(
                context: CommandExecutionContext,
                raw_text: Annotated[str, Arg(positional=True, greedy=True)] = "",
            ) -> AsyncIterator[CommandResponse]:
                async for response in _run(func, context, raw_text):
                    yield response

            return func

        return decorator


async def _run(
    func: Callable[..., Any], context: CommandExecutionContext, raw_text: str
) -> AsyncIterator[CommandResponse]:
    matcher, event = LegacyMatcher(), LegacyMessageEvent(context, raw_text)
    offered = {"matcher": matcher, "event": event, "bot": _bot(), "arg": event.message, "args": event.message}
    wanted = inspect.signature(func).parameters
    last: Any = None
    try:
        last = func(**{name: value for name, value in offered.items() if name in wanted})
        if inspect.isawaitable(last):
            last = await last
    except LegacyCommandFinished as finished:
        last = finished.response
    for response in matcher.drain():
        yield response
    async for response in _coerced(last):
        yield response


async def _coerced(result: Any) -> AsyncIterator[CommandResponse]:
    """Whatever a handler gives: nothing, a response, a text, or several of them."""
    if hasattr(result, "__aiter__"):
        async for item in result:
            async for response in _coerced(item):
                yield response
    elif isinstance(result, (list, tuple)):
        for item in result:
            async for response in _coerced(item):
                yield response
    elif isinstance(result, CommandResponse):
        yield result
    elif result:
        yield CmdCtl.success(str(result))


def _bot() -> Any:
    try:
        return get_bot()
    except RuntimeError:
        return LegacyBotUnavailable()


def _plugin_of(func: Callable[..., Any]) -> NekroPlugin | None:
    """The plugin of the module a handler stands in, or of the package around it."""
    names = func.__globals__
    package = names.get("__package__") or ""
    modules = [sys.modules.get(name) for name in (package, f"{package}.plugin")]
    places = [names, *(vars(module) for module in modules if module is not None)]
    for place in places:
        found = place.get("plugin")
        if isinstance(found, NekroPlugin):
            return found
    return next((value for value in names.values() if isinstance(value, NekroPlugin)), None)


def on_command(
    name: str, aliases: Iterable[Any] | None = None, *_: Any, **__: Any
) -> LegacyCommandRegistration:
    return LegacyCommandRegistration(name, aliases)


async def finish_with(matcher: Any, message: str) -> None:
    await matcher.finish(message)


async def command_guard(
    event: LegacyMessageEvent,
    bot: Any,
    arg: LegacyMessage,
    matcher: LegacyMatcher,
    trigger_on_off: bool = False,
    require_advanced_command: bool = False,
) -> tuple[str, str, str, ChatType]:
    """Lets super users through, in an active chat: (name, arguments, chat key, chat type)."""
    channel = await DBChatChannel.filter(chat_key=event.chat_key).first()
    if channel is not None and not channel.is_active and not trigger_on_off:
        await matcher.finish()
    if not event.context.is_super_user:
        message = say(texts.NOT_AN_ADMINISTRATOR, name=event.context.username, user=event.get_user_id())
        await matcher.finish(message, status=CommandResponseStatus.UNAUTHORIZED)
    return event.context.username, arg.extract_plain_text().strip(), event.chat_key, event.chat_type
