"""The event a handler receives: one message on its way through the plugins.

The live object stays in this process as long as the event is handled; only `send` crosses to the host."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncGenerator
from time import time
from typing import Any

from astrbot import logger, markers
from astrbot.core.agent.tool import ToolSet
from astrbot.core.db.po import Conversation
from astrbot.core.message.components import At, BaseMessageComponent, Face, Forward, Image, Plain, Reply
from astrbot.core.message.message_event_result import MessageChain, MessageEventResult
from astrbot.core.provider.entities import ProviderRequest
from astrbot.core.utils.trace import TraceSpan

from .astrbot_message import AstrBotMessage, Group
from .elsewhere import refuse
from .message_session import MessageSesion, MessageSession  # noqa: F401
from .message_type import MessageType
from .platform_metadata import PlatformMetadata


class AstrMessageEvent:
    def __init__(
        self,
        message_str: str,
        message_obj: AstrBotMessage,
        platform_meta: PlatformMetadata,
        session_id: str,
    ) -> None:
        self.message_str = message_str
        self.message_obj = message_obj
        self.platform_meta = platform_meta
        self.platform = platform_meta
        self.role = "member"
        self.is_wake = False
        self.is_at_or_wake_command = False
        self.session = MessageSession(platform_meta.id, _type_of(message_obj), session_id)
        self.created_at = time()
        self.call_llm = False
        self.plugins_name: list[str] | None = None
        self._extras: dict[str, Any] = {}
        self._result: MessageEventResult | None = None
        self._force_stopped = False
        self._has_send_oper = False
        self._temporary_local_files: list[str] = []
        self.trace = TraceSpan("AstrMessageEvent", umo=self.unified_msg_origin)
        self.span = self.trace

    def __getattr__(self, name: str) -> Any:
        refuse(self, name, getattr(self.__dict__.get("platform_meta"), "name", "another one"))

    @property
    def unified_msg_origin(self) -> str:
        return str(self.session)

    @unified_msg_origin.setter
    def unified_msg_origin(self, value: str) -> None:
        self.new_session = MessageSession.from_str(value)
        self.session = self.new_session

    @property
    def session_id(self) -> str:
        return self.session.session_id

    @session_id.setter
    def session_id(self, value: str) -> None:
        self.session.session_id = value

    # What the message is

    def get_platform_name(self) -> str:
        return self.platform_meta.name

    def get_platform_id(self) -> str:
        return self.platform_meta.id

    def get_message_str(self) -> str:
        return self.message_str

    def get_message_outline(self) -> str:
        return self._outline_chain(getattr(self.message_obj, "message", None))

    def _outline_chain(self, chain: list[BaseMessageComponent] | None) -> str:
        return " ".join(_outline(part) for part in chain or [])

    def get_messages(self) -> list[BaseMessageComponent]:
        return getattr(self.message_obj, "message", [])

    def get_message_type(self) -> MessageType:
        kind = getattr(self.message_obj, "type", None)
        return kind if isinstance(kind, MessageType) else self.session.message_type

    def get_session_id(self) -> str:
        return self.session_id

    def get_group_id(self) -> str:
        return getattr(self.message_obj, "group_id", "")

    def get_self_id(self) -> str:
        return getattr(self.message_obj, "self_id", "")

    def get_sender_id(self) -> str:
        user = getattr(getattr(self.message_obj, "sender", None), "user_id", None)
        return user if isinstance(user, str) else ""

    def get_sender_name(self) -> str:
        nickname = getattr(getattr(self.message_obj, "sender", None), "nickname", None)
        return "" if nickname is None else str(nickname)

    def is_private_chat(self) -> bool:
        return self.get_message_type() == MessageType.FRIEND_MESSAGE

    def is_wake_up(self) -> bool:
        return self.is_wake

    def is_admin(self) -> bool:
        return self.role == "admin"

    async def get_group(self, group_id: str | None = None, **kwargs: Any) -> Group | None:
        return getattr(self.message_obj, "group", None) if group_id in (None, self.get_group_id()) else None

    # What plugins leave on it

    def set_extra(self, key: str, value: Any) -> None:
        self._extras[key] = value

    def get_extra(self, key: str | None = None, default: Any = None) -> Any:
        return self._extras if key is None else self._extras.get(key, default)

    def clear_extra(self) -> None:
        self._extras.clear()

    def track_temporary_local_file(self, path: str) -> None:
        if path and path not in self._temporary_local_files:
            self._temporary_local_files.append(path)

    def cleanup_temporary_local_files(self) -> None:
        while self._temporary_local_files:
            path = self._temporary_local_files.pop()
            try:
                os.remove(path)
            except FileNotFoundError:
                pass
            except OSError as error:
                logger.warning("cannot remove temporary file %s: %s", path, error)

    # Results and propagation

    def set_result(self, result: MessageEventResult | str) -> None:
        if isinstance(result, str):
            result = MessageEventResult().message(result)
        if isinstance(result, MessageEventResult) and result.chain is None:
            result.chain = []
        self._result = result

    def get_result(self) -> MessageEventResult | None:
        return self._result

    def clear_result(self) -> None:
        self._result = None

    def stop_event(self) -> None:
        self._force_stopped = True
        self._mark().stop_event()

    def continue_event(self) -> None:
        self._force_stopped = False
        self._mark().continue_event()

    def _mark(self) -> MessageEventResult:
        if self._result is None:
            self.set_result(MessageEventResult())
        assert self._result is not None
        return self._result

    def is_stopped(self) -> bool:
        return self._force_stopped or (self._result is not None and self._result.is_stopped())

    def should_call_llm(self, call_llm: bool) -> None:
        # Compat(astrbot): True means that the default answer is NOT asked for.
        self.call_llm = call_llm

    def make_result(self) -> MessageEventResult:
        return MessageEventResult()

    def plain_result(self, text: str) -> MessageEventResult:
        return MessageEventResult().message(text)

    def image_result(self, url_or_path: str) -> MessageEventResult:
        if url_or_path.startswith("http"):
            return MessageEventResult().url_image(url_or_path)
        return MessageEventResult().file_image(url_or_path)

    def chain_result(self, chain: list[BaseMessageComponent]) -> MessageEventResult:
        return MessageEventResult(chain=chain)

    def request_llm(
        self,
        prompt: str,
        func_tool_manager: Any = None,
        tool_set: ToolSet | None = None,
        session_id: str = "",
        image_urls: list[str] | None = None,
        audio_urls: list[str] | None = None,
        contexts: list | None = None,
        system_prompt: str = "",
        conversation: Conversation | None = None,
    ) -> ProviderRequest:
        return ProviderRequest(
            prompt=prompt,
            session_id=session_id,
            image_urls=image_urls or [],
            audio_urls=audio_urls or [],
            func_tool=tool_set,
            contexts=contexts or [],
            system_prompt=system_prompt,
            conversation=None if contexts else conversation,
        )

    # Leaving messages

    async def send(self, message: MessageChain) -> None:
        """Sends now and waits until the host has taken the message over."""
        from astrbot.core.platform.outbox import send_chain

        self._has_send_oper = True
        if isinstance(message, str):
            message = MessageChain().message(message)
        if message is not None:
            await send_chain(self.unified_msg_origin, message)

    async def send_streaming(
        self, generator: AsyncGenerator[MessageChain, None], use_fallback: bool = False
    ) -> None:
        """Words are seen as they come; a chain of type `break` ends one message and begins the next. All platforms
        here can show a stream, so that there is nothing to fall back from."""
        from astrbot.core.platform.streaming import send_stream

        self._has_send_oper = True
        await send_stream(self, generator)

    async def process_buffer(self, buffer: str, pattern: re.Pattern) -> str:
        while match := re.search(pattern, buffer):
            if text := match.group().strip():
                await self.send(MessageChain([Plain(text)]))
            buffer = buffer[match.end() :]
        return buffer

    async def send_typing(self) -> None:
        return None

    async def stop_typing(self) -> None:
        return None

    async def _pre_send(self) -> None:
        return None

    async def _post_send(self) -> None:
        return None

    async def react(self, emoji: str) -> None:
        await self.send(MessageChain([Plain(emoji)]))


def _type_of(message: AstrBotMessage) -> MessageType:
    kind = getattr(message, "type", None)
    if isinstance(kind, MessageType):
        return kind
    try:
        return MessageType(str(kind))
    except ValueError:
        logger.warning("message type %r is unknown, taken as FriendMessage", kind)
        return MessageType.FRIEND_MESSAGE


def _outline(part: BaseMessageComponent) -> str:
    match part:
        case Plain():
            return part.text
        case Image():
            return markers.OUTLINE_IMAGE
        case Face():
            return markers.OUTLINE_FACE.format(id=part.id)
        case At():
            return markers.OUTLINE_AT.format(target=part.qq)
        case Forward():
            return markers.OUTLINE_FORWARD
        case Reply():
            if part.message_str:
                return markers.OUTLINE_REPLY_TEXT.format(name=part.sender_nickname, text=part.message_str)
            return markers.OUTLINE_REPLY
        case _:
            return f"[{part.type}]"
