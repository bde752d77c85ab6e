"""Points of an agent's run that a plugin may overhear."""

from typing import Generic

from .run_context import ContextWrapper, TContext


class BaseAgentRunHooks(Generic[TContext]):
    async def on_agent_begin(self, run_context: ContextWrapper[TContext]) -> None: ...
    async def on_tool_start(
        self, run_context: ContextWrapper[TContext], tool, tool_args: dict | None
    ) -> None: ...
    async def on_tool_end(
        self, run_context: ContextWrapper[TContext], tool, tool_args: dict | None, tool_result
    ) -> None: ...
    async def on_agent_done(self, run_context: ContextWrapper[TContext], llm_response) -> None: ...
