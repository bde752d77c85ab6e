"""The way to the host, which exists only inside a worker."""

from typing import Any


class NotRunning(RuntimeError):
    """The plugin runs outside Callgate, in its author's tests for example."""

    hint = "load it with `callgate plugin check` or drive it with `callgate plugin test`"


async def call(name: str, /, **arguments: Any) -> Any:
    return await _host().call(name, **arguments)


def call_now(name: str, /, **arguments: Any) -> Any:
    return _host().call_now(name, **arguments)


def stream(name: str, /, **arguments: Any) -> Any:
    return _host().stream(name, **arguments)


def _host() -> Any:
    try:
        from callgate_worker import host
    except ImportError:
        raise NotRunning("this needs a running Callgate") from None
    return host
