"""Platforms, sessions, messages and events."""

from .astr_message_event import AstrMessageEvent
from .astrbot_message import AstrBotMessage, Group, MessageMember, MessageType
from .platform import Platform
from .platform_metadata import PlatformMetadata

__all__ = [
    "AstrBotMessage",
    "AstrMessageEvent",
    "Group",
    "MessageMember",
    "MessageType",
    "Platform",
    "PlatformMetadata",
]
