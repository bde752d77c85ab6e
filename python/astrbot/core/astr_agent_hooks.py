"""Plugin hooks as hooks of the main agent's run."""

from __future__ import annotations

from typing import Any

from astrbot.core.agent.hooks import BaseAgentRunHooks
from astrbot.core.agent.run_context import ContextWrapper
from astrbot.core.astr_agent_context import AstrAgentContext
from astrbot.core.pipeline.context_utils import call_event_hook
from astrbot.core.star.star_handler import EventType


class MainAgentHooks(BaseAgentRunHooks[AstrAgentContext]):
    async def on_agent_begin(self, run_context: ContextWrapper[AstrAgentContext]) -> None:
        await call_event_hook(run_context.context.event, EventType.OnAgentBeginEvent, run_context)

    async def on_agent_done(self, run_context: ContextWrapper[AstrAgentContext], llm_response: Any) -> None:
        event = run_context.context.event
        if llm_response and llm_response.reasoning_content:
            event.set_extra("_llm_reasoning_content", llm_response.reasoning_content)
        await call_event_hook(event, EventType.OnLLMResponseEvent, llm_response)
        await call_event_hook(event, EventType.OnAgentDoneEvent, run_context, llm_response)

    async def on_tool_start(
        self, run_context: ContextWrapper[AstrAgentContext], tool: Any, tool_args: dict | None
    ) -> None:
        await call_event_hook(run_context.context.event, EventType.OnUsingLLMToolEvent, tool, tool_args)

    async def on_tool_end(
        self,
        run_context: ContextWrapper[AstrAgentContext],
        tool: Any,
        tool_args: dict | None,
        tool_result: Any,
    ) -> None:
        event = run_context.context.event
        event.clear_result()
        await call_event_hook(event, EventType.OnLLMToolRespondEvent, tool, tool_args, tool_result)


class EmptyAgentHooks(BaseAgentRunHooks[AstrAgentContext]):
    """Nothing is overheard."""


MAIN_AGENT_HOOKS = MainAgentHooks()
