"""Rows in a chat's log that nobody typed."""

from typing import Any

from callgate_worker import host

from nekro_agent import parts, platforms
from nekro_agent.schemas.agent_message import AgentMessageSegment, convert_agent_message_to_prompt
from nekro_agent.schemas.chat_message import ChatMessage
from nekro_agent.schemas.signal import MsgSignal

Content = str | list[AgentMessageSegment]


class MessageService:
    async def push_system_message(
        self,
        chat_key: str,
        agent_messages: Content,
        trigger_agent: bool = False,
        db_chat_channel: Any = None,
    ) -> None:
        """A system row; `trigger_agent` also starts a turn."""
        text = agent_messages
        if not isinstance(text, str):
            text = convert_agent_message_to_prompt(text)
        await host.call("system_push", session=platforms.chat_key(chat_key), text=text, trigger=trigger_agent)

    async def push_bot_message(
        self,
        chat_key: str,
        agent_messages: Content,
        plt_response: Any = None,
        db_chat_channel: Any = None,
        ref_msg_id: str | None = None,
        normalize_at_markup: bool = True,
    ) -> None:
        segments = agent_messages
        if isinstance(segments, str):
            segments = [AgentMessageSegment(content=segments)]
        await host.call(
            "message_send",
            session=platforms.chat_key(chat_key),
            parts=parts.from_segments(segments, chat_key),
            record=True,
            reference=ref_msg_id,
        )

    async def push_human_message(
        self,
        message: ChatMessage,
        user: Any = None,
        trigger_agent: bool = False,
        db_chat_channel: Any = None,
    ) -> None:
        """A message that a plugin held back, or put together: heard by the hooks, kept, answered."""
        from nekro_agent.schemas.agent_ctx import AgentCtx
        from nekro_agent.services.plugin.collector import plugin_collector

        ctx = await AgentCtx.create_by_chat_key(message.chat_key)
        ctx._trigger_db_user = user
        signal = await plugin_collector.handle_on_user_message(ctx, message)
        if signal is MsgSignal.BLOCK_ALL:
            return
        await self.record_human_message(message)
        is_wanted = trigger_agent or bool(message.is_tome)
        if signal is MsgSignal.FORCE_TRIGGER or (is_wanted and signal is MsgSignal.CONTINUE):
            await self.schedule_agent_task(message.chat_key)

    async def record_human_message(self, message: ChatMessage, db_chat_channel: Any = None) -> None:
        """A row in the log, and nothing else."""
        from nekro_agent.models.db_chat_message import DBChatMessage

        await DBChatMessage.create(**message.model_dump(mode="json"))

    async def schedule_agent_task(
        self, chat_key: str | None = None, message: Any = None, ignore_debounce: bool = False, ctx: Any = None
    ) -> None:
        """A turn with nothing new said."""
        key = chat_key or getattr(message, "chat_key", None) or getattr(ctx, "chat_key", None)
        await host.call("system_push", session=platforms.chat_key(key or ""), text="", trigger=True)


message_service = MessageService()
