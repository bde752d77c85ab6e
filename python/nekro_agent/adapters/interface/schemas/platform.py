"""People, channels and messages of a platform."""

import time
from enum import Enum

from pydantic import BaseModel, Field

from nekro_agent.adapters.interface.schemas.extra import PlatformMessageExt
from nekro_agent.schemas.chat_message import ChatMessageSegment, ChatType


class PlatformUser(BaseModel):
    platform_name: str = ""
    user_id: str
    user_name: str
    user_avatar: str = ""


class PlatformChannel(BaseModel):
    channel_id: str
    channel_name: str
    channel_type: ChatType = ChatType.UNKNOWN
    channel_avatar: str = ""


class PlatformMessage(BaseModel):
    message_id: str
    sender_id: str
    sender_name: str
    sender_nickname: str = ""
    sender_avatar: str = ""
    content_data: list[ChatMessageSegment] = []
    content_text: str = ""
    is_tome: bool = False
    timestamp: int = Field(default_factory=lambda: int(time.time()))
    is_self: bool = False
    ext_data: PlatformMessageExt | None = PlatformMessageExt()


class PlatformSendSegmentType(str, Enum):
    TEXT = "text"
    AT = "at"
    IMAGE = "image"
    FILE = "file"


class PlatformAtSegment(BaseModel):
    platform_user_id: str
    nickname: str | None = None


class PlatformSendSegment(BaseModel):
    type: PlatformSendSegmentType
    content: str = ""
    at_info: PlatformAtSegment | None = None
    file_path: str | None = None


class PlatformSendRequest(BaseModel):
    chat_key: str
    segments: list[PlatformSendSegment]
    ref_msg_id: str | None = None


class PlatformSendResponse(BaseModel):
    success: bool
    error_message: str | None = None
    message_id: str | None = None
