"""A platform as plugins hold it: it sends through the host."""

from typing import Any, TypeVar

from callgate_worker import host
from pydantic import BaseModel

from nekro_agent import chat_keys, parts, platforms, texts
from nekro_agent.absent import AbsentAttribute
from nekro_agent.adapters.interface.schemas.platform import (
    PlatformChannel,
    PlatformSendRequest,
    PlatformSendResponse,
    PlatformSendSegment,
    PlatformSendSegmentType,
    PlatformUser,
)
from nekro_agent.schemas.chat_message import ChatType


A = TypeVar("A")


class AdapterMetadata(BaseModel):
    name: str
    description: str
    version: str = "1.0.0"
    author: str = ""
    homepage: str = ""
    tags: list[str] = []


class BaseAdapter:
    def __init__(self, key: str) -> None:
        self.key = key

    @property
    def metadata(self) -> "AdapterMetadata":
        return AdapterMetadata(name=self.key, description=f"{self.key} through the host")

    def build_chat_key(self, channel_id: str) -> str:
        return f"{platforms.of_key(self.key)[0]}-{channel_id}"

    def parse_chat_key(self, chat_key: str) -> tuple[str, str]:
        return chat_keys.adapter_of(chat_key), chat_keys.channel_of(chat_key)

    def cast(self, adapter_type: type[A]) -> A:
        if not isinstance(self, adapter_type):
            raise TypeError(f"the platform {self.key} is no {adapter_type.__name__}")
        return self

    async def forward_message(self, request: PlatformSendRequest) -> PlatformSendResponse:
        message = [_part(segment, request.chat_key) for segment in request.segments]
        try:
            sent = await host.call(
                "message_send",
                session=platforms.chat_key(request.chat_key),
                parts=message,
                record=False,
                reference=request.ref_msg_id,
            )
        except host.HostError as error:
            return PlatformSendResponse(success=False, error_message=str(error))
        return PlatformSendResponse(success=True, message_id=str(sent) if sent is not None else None)

    async def get_user_info(self, user_id: str, channel_id: str = "") -> PlatformUser:
        from nekro_agent.models.db_user import DBUser

        found = await DBUser.get_by_union_id(self.key, user_id)
        name = found.username if found else user_id
        return PlatformUser(platform_name=self.key, user_id=user_id, user_name=name)

    async def get_channel_info(self, channel_id: str) -> PlatformChannel:
        from nekro_agent.models.db_chat_channel import DBChatChannel

        channel = await DBChatChannel.get_channel(self.build_chat_key(channel_id))
        return PlatformChannel(
            channel_id=channel_id,
            channel_name=channel.channel_name or channel_id,
            channel_type=channel.chat_type if channel.chat_type else ChatType.UNKNOWN,
        )

    async def get_self_info(self) -> PlatformUser:
        return PlatformUser(platform_name=self.key, user_id="0", user_name="bot")

    def __getattr__(self, name: str) -> Any:
        """What only one platform of Nekro Agent can do is not here."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise AbsentAttribute(texts.PLATFORM_CANNOT.format(platform=self.key, name=name))

    async def set_message_reaction(self, message_id: str, status: bool = True) -> bool:
        return False


def _part(segment: PlatformSendSegment, chat_key: str) -> dict[str, Any]:
    if segment.type is PlatformSendSegmentType.AT and segment.at_info is not None:
        at = segment.at_info
        return {"type": "mention", "id": at.platform_user_id, "name": at.nickname or ""}
    if segment.type in (PlatformSendSegmentType.IMAGE, PlatformSendSegmentType.FILE):
        is_image = segment.type is PlatformSendSegmentType.IMAGE
        return parts.media(segment.file_path or segment.content, chat_key, as_image=is_image)
    return {"type": "text", "text": segment.content}
