"""Conditions on events under which a handler runs."""

import abc

from astrbot.core.config import AstrBotConfig
from astrbot.core.platform.astr_message_event import AstrMessageEvent
from astrbot.core.platform.message_type import MessageType


class HandlerFilter(abc.ABC):
    @abc.abstractmethod
    def filter(self, event: AstrMessageEvent, cfg: AstrBotConfig) -> bool:
        """True when the handler may run for this event."""


__all__ = ["AstrBotConfig", "AstrMessageEvent", "HandlerFilter", "MessageType"]
