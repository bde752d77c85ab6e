"""A message as it arrived: sender, group, components, plain text."""

from __future__ import annotations

import time
from dataclasses import dataclass

from astrbot.core.message.components import BaseMessageComponent

from .message_type import MessageType


@dataclass
class MessageMember:
    user_id: str
    nickname: str | None = None

    def __str__(self) -> str:
        return f"User ID: {self.user_id},Nickname: {self.nickname or 'N/A'}"


@dataclass
class Group:
    group_id: str
    group_name: str | None = None
    group_avatar: str | None = None
    group_owner: str | None = None
    group_admins: list[str] | None = None
    members: list[MessageMember] | None = None

    def __str__(self) -> str:
        rows = {
            "Group ID": self.group_id,
            "Name": self.group_name or "N/A",
            "Avatar": self.group_avatar or "N/A",
            "Owner ID": self.group_owner or "N/A",
            "Admin IDs": self.group_admins or "N/A",
            "Members Len": len(self.members or []),
            "First Member": self.members[0] if self.members else "N/A",
        }
        return "".join(f"{name}: {value}\n" for name, value in rows.items())


class AstrBotMessage:
    type: MessageType
    self_id: str
    session_id: str
    message_id: str
    group: Group | None
    sender: MessageMember
    message: list[BaseMessageComponent]
    message_str: str
    raw_message: object
    timestamp: int

    def __init__(self) -> None:
        self.timestamp = int(time.time())
        self.group = None

    def __str__(self) -> str:
        return str(self.__dict__)

    @property
    def group_id(self) -> str:
        return self.group.group_id if self.group else ""

    @group_id.setter
    def group_id(self, value: str | None) -> None:
        if not value:
            self.group = None
        elif self.group:
            self.group.group_id = value
        else:
            self.group = Group(group_id=value)
