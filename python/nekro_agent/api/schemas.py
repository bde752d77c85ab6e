"""The types that methods and hooks are written with."""

from nekro_agent.schemas.agent_ctx import AgentCtx, WebhookRequest
from nekro_agent.schemas.agent_message import AgentMessageSegment, AgentMessageSegmentType

MessageContent = str | list[AgentMessageSegment]

__all__ = ["AgentCtx", "AgentMessageSegment", "AgentMessageSegmentType", "MessageContent", "WebhookRequest"]
