"""Calling handlers and hooks."""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncGenerator, Callable
from typing import Any

from astrbot.core.message.message_event_result import MessageEventResult
from astrbot.core.platform.astr_message_event import AstrMessageEvent
from astrbot.core.star.star import star_map
from astrbot.core.star.star_handler import EventType, StarHandlerMetadata, star_handlers_registry
from callgate_worker import host

logger = logging.getLogger("astrbot")


async def call_handler(
    event: AstrMessageEvent, handler: Callable[..., Any], *args: Any, **kwargs: Any
) -> AsyncGenerator[Any, None]:
    """Runs a handler up to each of its yields. What it yields is set on the event or handed on."""
    try:
        begun = handler(event, *args, **kwargs)
    except TypeError:
        logger.exception("the handler's parameters do not fit its command")
        return
    if inspect.isasyncgen(begun):
        yielded = False
        async for result in begun:
            yielded = True
            yield _seen(event, result)
        if not yielded:
            yield None
    elif inspect.iscoroutine(begun):
        yield _seen(event, await begun)


def _seen(event: AstrMessageEvent, result: Any) -> Any:
    if isinstance(result, MessageEventResult):
        event.set_result(result)
        return None
    return result


async def call_event_hook(event: AstrMessageEvent, hook_type: EventType, *args: Any, **kwargs: Any) -> bool:
    """All hooks of one point in order; a failing one is logged. True when the event was stopped."""
    for record in star_handlers_registry.get_handlers_by_event_type(
        hook_type, plugins_name=event.plugins_name
    ):
        with belonging(record):
            try:
                assert inspect.iscoroutinefunction(record.handler), (
                    "hooks are coroutine functions, without yield"
                )
                await record.handler(event, *args, **kwargs)
            except Exception:
                logger.exception("hook %s of %s failed", record.handler_name, record.handler_module_path)
        if event.is_stopped():
            return True
    return event.is_stopped()


class belonging:
    """Runs a block as the code of the handler's plugin, for logs and background rights."""

    def __init__(self, record: StarHandlerMetadata) -> None:
        star = star_map.get(record.handler_module_path)
        self._name = (star.name if star else None) or record.handler_module_path

    def __enter__(self) -> None:
        self._token = host.plugin.set(self._name)

    def __exit__(self, *_: object) -> None:
        host.plugin.reset(self._token)
