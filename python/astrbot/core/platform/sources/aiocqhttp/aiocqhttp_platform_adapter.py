"""A OneBot platform that the host is connected to."""

from __future__ import annotations

import logging
import time
import uuid
from asyncio import Queue
from typing import Any

from aiocqhttp import Event
from aiocqhttp.exceptions import Error

from astrbot.core.message.components import Poke
from astrbot.core.platform import outbox
from astrbot.core.platform.astrbot_message import AstrBotMessage, Group, MessageMember
from astrbot.core.platform.message_type import MessageType
from astrbot.core.platform.platform import HostedPlatform
from astrbot.core.platform.platform_metadata import PlatformMetadata

from . import segments
from .aiocqhttp_message_event import AiocqhttpMessageEvent
from .client import HostedClient

logger = logging.getLogger("astrbot")


class AiocqhttpAdapter(HostedPlatform):
    def __init__(self, platform_config: dict, platform_settings: dict, event_queue: Queue) -> None:
        super().__init__(platform_config["id"], "aiocqhttp", event_queue)
        # Compat(astrbot): plugins look here for the address; connections are the host's business.
        self.config |= {"ws_reverse_host": "", "ws_reverse_port": 0, "ws_reverse_token": ""}
        self.settings = platform_settings
        self._meta = PlatformMetadata(
            name="aiocqhttp",
            description="OneBot through the host",
            id=platform_config["id"],
            support_streaming_message=False,
        )
        self.metadata = self._meta
        self.bot = HostedClient(platform_config["id"])
        outbox.forwarding.add(platform_config["id"])

    def get_client(self) -> HostedClient:
        return self.bot

    def create_event(self, message: AstrBotMessage) -> AiocqhttpMessageEvent:
        return AiocqhttpMessageEvent(
            message.message_str, message, self.meta(), message.session_id, self.bot
        )

    async def handle_msg(self, message: AstrBotMessage) -> None:
        self.commit_event(self.create_event(message))

    async def convert_message(self, event: Event, found: segments.Found | None = None) -> AstrBotMessage | None:
        """An event as AstrBot tells it."""
        if event["post_type"] == "message":
            return await self._message(event, found or segments.Found())
        return self._notice(event) if event["post_type"] in ("notice", "request") else None

    async def _message(self, event: Event, found: segments.Found) -> AstrBotMessage:
        message = self._begun(event, is_group=event.get("message_type") == "group")
        sender = event.get("sender") or {}
        message.sender = MessageMember(
            str(sender.get("user_id", event.get("user_id"))),
            sender.get("card") or sender.get("nickname", "N/A"),
        )
        if message.group:
            message.group.group_name = event.get("group_name") or "N/A"
        message.session_id = message.group_id or message.sender.user_id
        message.message_id = str(event.get("message_id"))
        reading = segments.Reading(self._asking(event), message.self_id, message.group_id, found)
        content = await reading.content(event.get("message"))
        message.message, message.message_str = content.chain, content.text
        return message

    def _notice(self, event: Event) -> AstrBotMessage:
        message = self._begun(event, is_group=bool(event.get("group_id")))
        user = str(event.get("user_id"))
        message.sender = MessageMember(user, user)
        message.session_id = message.group_id or user
        message.message_id = uuid.uuid4().hex
        poked = event.get("target_id") if event.get("sub_type") == "poke" else None
        message.message = [Poke(id=poked)] if poked else []
        message.message_str = ""
        return message

    def _begun(self, event: Event, is_group: bool) -> AstrBotMessage:
        message = AstrBotMessage()
        message.type = MessageType.GROUP_MESSAGE if is_group else MessageType.FRIEND_MESSAGE
        message.self_id = str(event.get("self_id"))
        message.group = Group(str(event.get("group_id"))) if is_group else None
        message.raw_message = event
        message.timestamp = int(time.time())
        return message

    def _asking(self, event: Event) -> segments.Ask:
        async def ask(action: str, **parameters: Any) -> Any:
            try:
                return await self.bot.call_action(action, self_id=event.get("self_id"), **parameters)
            except Error as error:
                logger.debug("%s was not answered: %s", action, error)
                return None

        return ask
