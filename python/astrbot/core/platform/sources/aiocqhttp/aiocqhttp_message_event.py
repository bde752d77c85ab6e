"""Events of OneBot. `bot`, by which plugins tell OneBot from other platforms, exists on these events only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from astrbot.core.message.components import At, BaseMessageComponent, File, Image, Plain, Record
from astrbot.core.message.message_event_result import MessageChain
from astrbot.core.platform.astr_message_event import AstrMessageEvent
from astrbot.core.platform.astrbot_message import AstrBotMessage, Group, MessageMember
from astrbot.core.platform.message_type import MessageType
from astrbot.core.platform.platform_metadata import PlatformMetadata

if TYPE_CHECKING:
    from aiocqhttp import CQHttp, Event


class AiocqhttpMessageEvent(AstrMessageEvent):
    def __init__(
        self,
        message_str: str,
        message_obj: AstrBotMessage,
        platform_meta: PlatformMetadata,
        session_id: str,
        bot: CQHttp,
    ) -> None:
        super().__init__(message_str, message_obj, platform_meta, session_id)
        self.bot = bot

    @staticmethod
    async def _from_segment_to_dict(segment: BaseMessageComponent) -> dict:
        """A component as the segment that is sent."""
        if isinstance(segment, Image | Record):
            data = await segment.convert_to_base64()
            return {"type": segment.type.lower(), "data": {"file": f"base64://{data}"}}
        made = await segment.to_dict()
        if isinstance(segment, File) and Path(made["data"]["file"] or "").is_absolute():
            made["data"]["file"] = Path(made["data"]["file"]).as_uri()
        return made

    @staticmethod
    async def _parse_onebot_json(message_chain: MessageChain) -> list[dict]:
        """The chain as OneBot segments."""
        made: list[dict] = []
        for part in message_chain.chain:
            if isinstance(part, Plain) and not part.text.strip():
                continue
            made.append(await AiocqhttpMessageEvent._from_segment_to_dict(part))
            if isinstance(part, At):
                # So that the name does not run into what follows.
                made.append({"type": "text", "data": {"text": " "}})
        return made

    @classmethod
    async def send_message(
        cls,
        bot: CQHttp,
        message_chain: MessageChain,
        event: Event | None = None,
        is_group: bool = False,
        session_id: str | None = None,
    ) -> None:
        """Where no session is named, the event's own is meant."""
        from astrbot.core.platform.outbox import send_chain

        if not session_id and event is not None:
            is_group = event.get("message_type") == "group" if "message_type" in event else "group_id" in event
            session_id = str(event.get("group_id" if is_group else "user_id"))
        if not session_id:
            raise ValueError("neither a session nor an event says where to send to")
        kind = MessageType.GROUP_MESSAGE if is_group else MessageType.FRIEND_MESSAGE
        await send_chain(f"{bot.platform_id}:{kind.value}:{session_id}", message_chain)

    async def get_group(self, group_id: str | int | None = None, **kwargs: Any) -> Group | None:
        """Asked of the platform, with owner, administrators and members."""
        group = str(group_id or self.get_group_id())
        if not group.isdigit():
            return None
        asked: dict[str, Any] = {"group_id": int(group)}
        if self.get_self_id():
            asked["self_id"] = self.get_self_id()
        info = await self.bot.call_action("get_group_info", **asked) or {}
        members = await self.bot.call_action("get_group_member_list", **asked) or []
        owners = [one["user_id"] for one in members if one.get("role") == "owner"]
        return Group(
            group_id=group,
            group_name=info.get("group_name"),
            group_avatar="",
            group_owner=str(owners[0] if owners else None),
            group_admins=[one["user_id"] for one in members if one.get("role") == "admin"],
            members=[
                MessageMember(one["user_id"], one.get("nickname") or one.get("card")) for one in members
            ],
        )
