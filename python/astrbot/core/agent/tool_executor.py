"""The interface of whatever runs a tool."""

from collections.abc import AsyncGenerator
from typing import Any, Generic

from .run_context import ContextWrapper, TContext
from .tool import FunctionTool


class BaseFunctionToolExecutor(Generic[TContext]):
    @classmethod
    def execute(
        cls, tool: FunctionTool, run_context: ContextWrapper[TContext], **tool_args: Any
    ) -> AsyncGenerator[Any, None]:
        raise NotImplementedError
