"""A tool that hands work over to another agent."""

from typing import Any, Generic

from astrbot import texts

from .agent import Agent
from .run_context import TContext
from .tool import FunctionTool


class HandoffTool(FunctionTool, Generic[TContext]):
    def __init__(
        self,
        agent: Agent[TContext],
        parameters: dict | None = None,
        tool_description: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            name=f"transfer_to_{agent.name}",
            parameters=parameters or self.default_parameters(),
            description=tool_description or self.default_description(agent.name),
            **kwargs,
        )
        self.provider_id: str | None = None
        self.agent = agent

    def default_parameters(self) -> dict:
        return {
            "type": "object",
            "properties": {
                "input": {
                    "type": "string",
                    "description": "What the other agent shall do, complete in itself.",
                },
                "image_urls": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Optional: pictures the task needs, as http URLs or local paths.",
                },
                "background_task": {
                    "type": "boolean",
                    "description": "True when the task takes long and nobody has to wait for it. Default false.",
                },
            },
        }

    def default_description(self, agent_name: str | None) -> str:
        return texts.HANDOFF_DESCRIPTION.format(agent=agent_name or "another")
