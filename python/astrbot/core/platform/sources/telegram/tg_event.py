"""Events of Telegram. `client`, by which plugins reach it, exists on these events only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from astrbot.core.message.message_event_result import MessageChain
from astrbot.core.platform.astr_message_event import AstrMessageEvent
from astrbot.core.platform.astrbot_message import AstrBotMessage, Group, MessageMember
from astrbot.core.platform.message_type import MessageType
from astrbot.core.platform.platform_metadata import PlatformMetadata

if TYPE_CHECKING:
    from telegram.ext import ExtBot


class TelegramPlatformEvent(AstrMessageEvent):
    MAX_MESSAGE_LENGTH = 4096

    def __init__(
        self,
        message_str: str,
        message_obj: AstrBotMessage,
        platform_meta: PlatformMetadata,
        session_id: str,
        client: ExtBot,
    ) -> None:
        super().__init__(message_str, message_obj, platform_meta, session_id)
        self.client = client

    def _place(self) -> dict[str, Any]:
        """Chat and topic, as Telegram's methods take them."""
        message = self.message_obj.raw_message.effective_message
        place: dict[str, Any] = {"chat_id": message.chat_id}
        if message.is_topic_message:
            place["message_thread_id"] = message.message_thread_id
        return place

    @classmethod
    async def send_with_client(cls, client: ExtBot, message: MessageChain, user_name: str) -> None:
        """To a chat, or a topic of it (`chat#topic`)."""
        from astrbot.core.platform.outbox import send_chain

        is_group = str(user_name).startswith("-")
        kind = MessageType.GROUP_MESSAGE if is_group else MessageType.FRIEND_MESSAGE
        await send_chain(f"{client.platform_id}:{kind.value}:{user_name}", message)

    async def send_typing(self) -> None:
        await self.client.send_chat_action(action="typing", **self._place())

    async def react(self, emoji: str | None, big: bool = False) -> None:
        """Without an emoji what was reacted with is taken back."""
        message = self.message_obj.raw_message.effective_message
        await self.client.set_message_reaction(message.chat_id, message.message_id, emoji or [], is_big=big)

    async def get_group(self, group_id: str | int | None = None, **kwargs: Any) -> Group | None:
        """Asked of Telegram, which tells bots who runs a group and not who is in it."""
        group = str(group_id or self.get_group_id() or "").partition("#")[0]
        if not group:
            return None
        chat = await self.client.get_chat(group)
        people = await self.client.get_chat_administrators(group)
        owners = [str(one.user.id) for one in people if one.status == "creator"]
        return Group(
            group_id=group,
            group_name=chat.title,
            group_avatar="",
            group_owner=owners[0] if owners else None,
            group_admins=[str(one.user.id) for one in people if one.status != "creator"],
            members=[MessageMember(str(one.user.id), one.user.full_name) for one in people],
        )
