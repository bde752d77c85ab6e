"""A Telegram platform that the host is connected to."""

from __future__ import annotations

import logging
from asyncio import Queue

from telegram import Update
from telegram.error import TelegramError

from astrbot.core.message.components import At
from astrbot.core.platform.astrbot_message import AstrBotMessage
from astrbot.core.platform.platform import HostedPlatform

from .client import HostedBot
from .tg_event import TelegramPlatformEvent

logger = logging.getLogger("astrbot")


class TelegramPlatformAdapter(HostedPlatform):
    def __init__(self, platform_config: dict, platform_settings: dict, event_queue: Queue) -> None:
        super().__init__(platform_config["id"], "telegram", event_queue)
        # Compat(astrbot): plugins look here for the token; the host keeps it.
        self.config |= {"telegram_token": "", "start_message": ""}
        self.settings = platform_settings
        self.client = HostedBot(platform_config["id"])

    def get_client(self) -> HostedBot:
        return self.client

    def create_event(self, message: AstrBotMessage) -> TelegramPlatformEvent:
        return TelegramPlatformEvent(
            message.message_str, message, self.meta(), message.session_id, self.client
        )

    async def told(self, message: AstrBotMessage, bot: str) -> AstrBotMessage:
        """The same in the words of python-telegram-bot."""
        try:
            await self.client.initialize()
        except TelegramError as error:
            logger.warning("Telegram did not say who the bot is: %s", error)
        message.raw_message = Update.de_json(message.raw_message, self.client)
        known = self.client._bot_user
        if known is None or not known.username:
            return message
        # Compat(astrbot): there the bot, and whoever is mentioned, are their user names.
        message.self_id = known.username
        for part in message.message:
            if isinstance(part, At) and str(part.qq) == bot:
                part.qq = part.name = known.username
            elif isinstance(part, At):
                part.qq = str(part.qq).removeprefix("@")
        return message
