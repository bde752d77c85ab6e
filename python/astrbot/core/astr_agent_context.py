"""What a tool finds as `context.context`: the Star context, the event, and room for more."""

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from astrbot.core.agent.run_context import ContextWrapper
from astrbot.core.platform.astr_message_event import AstrMessageEvent
from astrbot.core.star.context import Context


@dataclass(config=ConfigDict(arbitrary_types_allowed=True))
class AstrAgentContext:
    context: Context
    event: AstrMessageEvent
    extra: dict[str, str] = Field(default_factory=dict)


AgentContextWrapper = ContextWrapper[AstrAgentContext]
