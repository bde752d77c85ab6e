"""A message as hooks see it, and its segments."""

import time
from enum import Enum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field


class ChatType(Enum):
    PRIVATE = "private"
    GROUP = "group"
    UNKNOWN = "unknown"


class ChatMessageSegmentType(Enum):
    TEXT = "text"
    IMAGE = "image"
    VOICE = "voice"
    VIDEO = "video"
    FILE = "file"
    REFERENCE = "reference"
    AT = "at"
    JSON_CARD = "json_card"
    FORWARD = "forward"
    POKE = "poke"


class ChatMessageSegment(BaseModel):
    model_config = ConfigDict(use_enum_values=True)

    type: ChatMessageSegmentType
    text: str


class ChatMessageSegmentAt(ChatMessageSegment):
    target_platform_userid: str
    target_nickname: str


class ChatMessageSegmentFile(ChatMessageSegment):
    file_name: str
    local_path: str | None = None
    remote_url: str | None = None

    @classmethod
    def get_segment_type(cls) -> ChatMessageSegmentType:
        return ChatMessageSegmentType.FILE

    @classmethod
    def _of(cls, stored: tuple[str, str], file_name: str, url: str | None = None) -> Self:
        path, name = stored
        kind, shown = cls.get_segment_type(), file_name or name
        text = f"[{kind.value.capitalize()}: {shown}]"
        return cls(type=kind, text=text, file_name=shown, local_path=path, remote_url=url)

    @classmethod
    async def create_from_url(
        cls, url: str, from_chat_key: str, file_name: str = "", use_suffix: str = ""
    ) -> Self:
        from nekro_agent.tools.common_util import download_file

        if url.startswith("data:"):
            return await cls.create_from_base64(url, from_chat_key, file_name, use_suffix)
        stored = await download_file(
            url, file_name=file_name, use_suffix=use_suffix, from_chat_key=from_chat_key
        )
        return cls._of(stored, file_name, url)

    @classmethod
    async def create_form_local_path(
        cls, local_path: str, from_chat_key: str, file_name: str = "", use_suffix: str = ""
    ) -> Self:
        from nekro_agent.tools.common_util import copy_to_upload_dir

        stored = await copy_to_upload_dir(local_path, file_name, use_suffix, from_chat_key)
        return cls._of(stored, file_name)

    @classmethod
    async def create_from_bytes(
        cls, _bytes: bytes, from_chat_key: str, file_name: str = "", use_suffix: str = ""
    ) -> Self:
        from nekro_agent.tools.common_util import download_file_from_bytes

        stored = await download_file_from_bytes(
            _bytes, file_name=file_name, use_suffix=use_suffix, from_chat_key=from_chat_key
        )
        return cls._of(stored, file_name)

    @classmethod
    async def create_from_base64(
        cls, base64_str: str, from_chat_key: str, file_name: str = "", use_suffix: str = ""
    ) -> Self:
        from nekro_agent.tools.common_util import download_file_from_base64

        stored = await download_file_from_base64(
            base64_str, file_name=file_name, use_suffix=use_suffix, from_chat_key=from_chat_key
        )
        return cls._of(stored, file_name)


class ChatMessageSegmentImage(ChatMessageSegmentFile):
    @classmethod
    def get_segment_type(cls) -> ChatMessageSegmentType:
        return ChatMessageSegmentType.IMAGE


class ChatMessageSegmentForward(ChatMessageSegment):
    forward_content: list[dict[str, Any]] = Field(default_factory=list)


class ChatMessageSegmentJsonCard(ChatMessageSegment):
    json_data: dict[str, Any]
    card_title: str | None = None
    card_desc: str | None = None
    card_icon: str | None = None
    card_preview: str | None = None
    card_url: str | None = None
    share_from_nick: str | None = None

    @classmethod
    def get_segment_type(cls) -> ChatMessageSegmentType:
        return ChatMessageSegmentType.JSON_CARD


class ChatMessageSegmentPoke(ChatMessageSegment):
    action_img_url: str = ""
    poke_style: str = "戳一戳"
    poke_style_suffix: str = ""
    target_id: str = ""


_CLASSES: dict[ChatMessageSegmentType, type[ChatMessageSegment]] = {
    ChatMessageSegmentType.IMAGE: ChatMessageSegmentImage,
    ChatMessageSegmentType.FILE: ChatMessageSegmentFile,
    ChatMessageSegmentType.VOICE: ChatMessageSegmentFile,
    ChatMessageSegmentType.VIDEO: ChatMessageSegmentFile,
    ChatMessageSegmentType.AT: ChatMessageSegmentAt,
    ChatMessageSegmentType.JSON_CARD: ChatMessageSegmentJsonCard,
    ChatMessageSegmentType.FORWARD: ChatMessageSegmentForward,
    ChatMessageSegmentType.POKE: ChatMessageSegmentPoke,
}


def segment_from_dict(data: dict[str, Any]) -> ChatMessageSegment:
    kind = ChatMessageSegmentType(data["type"])
    return _CLASSES.get(kind, ChatMessageSegment).model_validate(data)


def segments_from_list(data: list[dict[str, Any]]) -> list[ChatMessageSegment]:
    return [segment_from_dict(item) for item in data]


class ChatMessage(BaseModel):
    """A message on its way in. Hooks may change it in place."""

    model_config = ConfigDict(use_enum_values=True)

    message_id: str
    sender_id: str
    sender_name: str
    sender_nickname: str
    adapter_key: str
    platform_userid: str | None
    is_tome: int | None = 0
    is_recalled: bool | None = False
    chat_key: str
    chat_type: ChatType
    content_text: str
    content_data: list[ChatMessageSegment]
    raw_cq_code: str
    ext_data: dict[str, Any]
    send_timestamp: int

    @classmethod
    def create_empty(cls, chat_key: str) -> "ChatMessage":
        return cls(
            message_id="",
            sender_id="",
            sender_name="",
            sender_nickname="",
            adapter_key="",
            platform_userid="",
            chat_key=chat_key,
            chat_type=ChatType.UNKNOWN,
            content_text="",
            content_data=[],
            raw_cq_code="",
            ext_data={},
            send_timestamp=int(time.time()),
        )

    def is_empty(self) -> bool:
        told = (
            self.message_id, self.sender_id, self.sender_name, self.sender_nickname,
            self.adapter_key, self.platform_userid, self.content_text, self.content_data,
            self.raw_cq_code,
        )
        return not any(told)
