"""What plugin packages use to reach the host. Every call passes the host's one gate, with the
identity of the frame that this code runs for.
"""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from callgate_worker.channel import Channel, Stream
    from callgate_worker.lane import Lane

identity: ContextVar[bytes | None] = ContextVar("identity", default=None)
"""The token of the frame being served. Tasks and `to_thread` inherit it; threads and work after the
frame have none and act for their plugin alone."""

plugin: ContextVar[str] = ContextVar("plugin", default="")
"""Whose code runs: what it prints is logged under this name."""

channel: "Channel | None" = None
lane: "Lane | None" = None


class HostError(Exception):
    """The host refused or failed. `type` is what failed there, `message` its text."""

    def __init__(self, type: str, message: str, hint: str | None = None) -> None:
        super().__init__(message or type)
        self.type = type
        self.message = message
        self.hint = hint


async def call(name: str, /, **arguments: Any) -> Any:
    """Calls a host method. From any event loop, also one of a plugin's own thread."""
    return await _channel().ask(name, arguments, identity.get())


def call_now(name: str, /, **arguments: Any) -> Any:
    """The same, blocking, for synchronous code. Leaf methods only: the loop stands still."""
    if lane is None:
        raise HostError("NotConnected", "this process has no host")
    return lane.ask(name, arguments, identity.get())


def stream(name: str, /, **arguments: Any) -> "Stream":
    """A host method with many answers. Leaving the loop early needs `aclose()`, which stops the
    method; after the end, `result` is what it returned.
    """
    return _channel().stream(name, arguments, identity.get())


def _channel() -> "Channel":
    if channel is None:
        raise HostError("NotConnected", "this process has no host")
    return channel
