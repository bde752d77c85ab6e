"""What a running agent hands to its tools."""

from typing import Any, Generic

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from typing_extensions import TypeVar

from .message import Message

TContext = TypeVar("TContext", default=Any)


@dataclass(config=ConfigDict(arbitrary_types_allowed=True))
class ContextWrapper(Generic[TContext]):
    context: TContext
    messages: list[Message] = Field(default_factory=list)
    tool_call_timeout: int = 120


NoContext = ContextWrapper[None]
