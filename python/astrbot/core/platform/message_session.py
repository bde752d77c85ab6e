"""A session key (`platform:type:id`) taken apart."""

from __future__ import annotations

from dataclasses import dataclass, field

from astrbot.core.platform.message_type import MessageType


@dataclass
class MessageSession:
    platform_name: str
    message_type: MessageType
    session_id: str
    platform_id: str = field(init=False)

    def __post_init__(self) -> None:
        self.platform_id = self.platform_name

    def __str__(self) -> str:
        return f"{self.platform_id}:{self.message_type.value}:{self.session_id}"

    @staticmethod
    def from_str(session_str: str) -> MessageSession:
        platform, kind, session = session_str.split(":", 2)
        return MessageSession(platform, MessageType(kind), session)


# Compat(astrbot): the historical spelling is imported by plugins.
MessageSesion = MessageSession
