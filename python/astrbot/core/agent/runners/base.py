"""The interface of a runner."""

from __future__ import annotations

import enum
from typing import Any, Generic

from astrbot.core.agent.run_context import TContext


class AgentState(enum.Enum):
    IDLE = enum.auto()
    RUNNING = enum.auto()
    DONE = enum.auto()
    ERROR = enum.auto()


class BaseAgentRunner(Generic[TContext]):
    async def reset(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError

    def done(self) -> bool:
        raise NotImplementedError

    def get_final_llm_resp(self) -> Any:
        raise NotImplementedError
