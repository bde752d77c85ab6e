"""The agent loop, which is the host's. A plugin may replace a name here; nothing calls it."""

from typing import Any

from nekro_agent.absent import Absent


async def limited_run_code(*_: Any, **__: Any) -> Any:
    raise Absent("the host runs code itself: it cannot be run, or replaced, from a plugin")


async def run_agent(*_: Any, **__: Any) -> Any:
    raise Absent("the host runs turns itself: use message_service.push_system_message(trigger_agent=True)")
