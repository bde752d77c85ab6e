"""The kinds of methods a plugin mounts."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from enum import Enum
from typing import Any

Handler = Callable[..., Coroutine[Any, Any, Any]]


class SandboxMethodType(str, Enum):
    """What a result does: `TOOL` to the caller, `AGENT` and `MULTIMODAL_AGENT` start a new round,
    `BEHAVIOR` becomes a system row."""

    TOOL = "tool"
    AGENT = "agent"
    BEHAVIOR = "behavior"
    MULTIMODAL_AGENT = "multimodal_agent"


@dataclass(eq=False)
class SandboxMethod:
    method_type: SandboxMethodType
    name: str
    description: str
    func: Handler


@dataclass(eq=False)
class WebhookMethod:
    name: str
    description: str
    func: Handler


@dataclass(eq=False)
class PromptInjectMethod:
    name: str
    description: str
    func: Handler
