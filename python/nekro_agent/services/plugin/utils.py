"""The kind of a mounted function."""

from collections.abc import Callable
from typing import Any

from nekro_agent.services.plugin.schema import SandboxMethodType


def get_sandbox_method_type(method: Callable[..., Any]) -> SandboxMethodType:
    return getattr(method, "_method_type", SandboxMethodType.TOOL)
