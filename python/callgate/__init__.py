"""Callgate's own plugin interface: a typed function with a docstring becomes a method.

    from callgate import method

    @method
    def add(a: int, b: int) -> int:
        \"\"\"Add two numbers.\"\"\"
        return a + b

Everything here can be imported, and every decorated function called, without a running Callgate.
"""

from callgate.context import Channel, Context, Message, User
from callgate.declare import (
    Effect,
    Kind,
    Signal,
    agent,
    behavior,
    command,
    method,
    multimodal_agent,
    on_message,
    on_reset,
    on_start,
    on_stop,
    on_timer,
    prompt,
    tool,
)
from callgate.settings import config
from callgate.state import State

__all__ = [
    "Channel",
    "Context",
    "Effect",
    "Kind",
    "Message",
    "Signal",
    "State",
    "User",
    "agent",
    "behavior",
    "command",
    "config",
    "method",
    "multimodal_agent",
    "on_message",
    "on_reset",
    "on_start",
    "on_stop",
    "on_timer",
    "prompt",
    "tool",
]
