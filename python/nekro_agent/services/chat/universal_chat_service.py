"""Messages out, whatever the platform."""

from typing import Any

from callgate_worker import host

from nekro_agent import parts, platforms
from nekro_agent.schemas.agent_message import AgentMessageSegment, AgentMessageSegmentType


class UniversalChatService:
    async def send_agent_message(
        self,
        chat_key: str,
        messages: list[AgentMessageSegment] | str,
        adapter: Any = None,
        ctx: Any = None,
        file_mode: bool = False,
        record: bool = False,
        ref_msg_id: str | None = None,
    ) -> None:
        segments = messages
        if isinstance(segments, str):
            segments = [AgentMessageSegment(content=segments)]
        if file_mode:
            media = AgentMessageSegmentType.IMAGE
            segments = [
                AgentMessageSegment(type=AgentMessageSegmentType.FILE, content=it.content)
                if it.type == media
                else it
                for it in segments
            ]
        await host.call(
            "message_send",
            session=platforms.chat_key(chat_key),
            parts=parts.from_segments(segments, chat_key),
            record=record,
            reference=ref_msg_id,
        )

    async def send_operation_message(self, chat_key: str, message: str) -> None:
        """What the system says, which no model reads."""
        await self.send_agent_message(chat_key, message, record=False)


universal_chat_service = UniversalChatService()
