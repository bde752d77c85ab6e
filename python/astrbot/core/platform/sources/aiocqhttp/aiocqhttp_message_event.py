"""Events of OneBot. `bot`, by which plugins tell OneBot from other platforms, exists on these events only."""

from __future__ import annotations

from typing import Any

from astrbot.core.message.message_event_result import MessageChain
from astrbot.core.platform.astr_message_event import AstrMessageEvent
from astrbot.core.platform.astrbot_message import AstrBotMessage
from astrbot.core.platform.platform_metadata import PlatformMetadata


class AiocqhttpMessageEvent(AstrMessageEvent):
    def __init__(
        self,
        message_str: str,
        message_obj: AstrBotMessage,
        platform_meta: PlatformMetadata,
        session_id: str,
        bot: Any,
    ) -> None:
        super().__init__(message_str, message_obj, platform_meta, session_id)
        self.bot = bot

    @staticmethod
    async def _parse_onebot_json(message_chain: MessageChain) -> list[dict]:
        """The chain as OneBot segments."""
        return [await part.to_dict() for part in message_chain.chain]
