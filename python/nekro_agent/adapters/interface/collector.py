"""Where platforms hand in messages: the host's own business. A plugin may look, nothing calls it."""

from typing import Any

from nekro_agent.absent import Absent


async def collect_message(*_: Any, **__: Any) -> Any:
    raise Absent("the host takes messages in itself: they cannot be handed in from a plugin")
