"""One event from arrival to its last message. Runs outside the conversation's lease: a handler may wait here
for the next message of its own session."""

from __future__ import annotations

import logging
import traceback
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from callgate_worker import host, language
from callgate_worker.flavours.astrbot import delivery, turn, waking
from callgate_worker.flavours.astrbot.runtime import Runtime

logger = logging.getLogger("astrbot")


async def handle(runtime: Runtime, event: Any, facts: dict[str, Any]) -> None:
    """Each result that a handler yields is delivered before the handler goes on."""
    from astrbot.core.utils.active_event_registry import active_event_registry

    language.answer(event.message_str)
    config = runtime.context.get_config()
    active_event_registry.register(event)
    try:
        chosen = await waking.wake(event, config, facts)
        if event.is_stopped():
            return
        async with aclosing(_process(runtime, event, chosen)) as yields:
            async for _ in yields:
                if event.is_stopped():
                    break
                await delivery.deliver(event, config)
                if event.is_stopped():
                    break
            # Compat(astrbot): what is left on the event is delivered as well, above all the result of a handler
            # that stopped the event before, or while, it gave it.
            await delivery.deliver(event, config)
    finally:
        active_event_registry.unregister(event)
        event.cleanup_temporary_local_files()


async def resume(runtime: Runtime, event: Any, answer: str) -> None:
    """An answer whose event was lost with its process: the live objects are new, handlers are not run again."""
    from astrbot.core.message.message_event_result import (
        MessageChain,
        MessageEventResult,
        ResultContentType,
    )

    event.is_wake = event.is_at_or_wake_command = True
    content = ResultContentType.LLM_RESULT
    said = MessageChain().message(answer).chain
    event.set_result(MessageEventResult(chain=said, result_content_type=content))
    await delivery.deliver(event, runtime.context.get_config())


async def _process(
    runtime: Runtime, event: Any, chosen: list[tuple[Any, dict[str, Any]]]
) -> AsyncGenerator[None]:
    from astrbot.core.provider.entities import ProviderRequest
    from astrbot.core.utils import session_waiter

    await session_waiter.offer(event)
    if event.is_stopped():
        return
    async with aclosing(_handlers(event, chosen)) as results:
        async for result in results:
            if isinstance(result, ProviderRequest):
                event.set_extra("provider_request", result)
                async with aclosing(turn.run(runtime, event)) as answers:
                    async for _ in answers:
                        yield
                event._extras.pop("provider_request", None)
            yield
    meant = event.is_at_or_wake_command or event.get_extra("callgate_wanted")
    if event._has_send_oper or not meant or event.call_llm or event.is_stopped():
        return
    if runtime.context.get_config()["provider_settings"].get("enable", True):
        async with aclosing(turn.run(runtime, event)) as answers:
            async for _ in answers:
                yield


async def _handlers(event: Any, chosen: list[tuple[Any, dict[str, Any]]]) -> AsyncGenerator[Any]:
    from astrbot import texts
    from astrbot.core.message.message_event_result import MessageEventResult
    from astrbot.core.pipeline.context_utils import call_event_hook, call_handler
    from astrbot.core.star.star import star_map
    from astrbot.core.star.star_handler import EventType

    for record, arguments in chosen:
        star = star_map.get(record.handler_module_path)
        if event.is_stopped():
            return
        if star is None:
            continue
        host.plugin.set(star.name or "")
        try:
            async with aclosing(call_handler(event, record.handler, **arguments)) as results:
                async for result in results:
                    yield result
            if event.is_stopped():
                return
            event.clear_result()
        except Exception as error:
            trace = traceback.format_exc()
            logger.error("handler %s failed: %s\n%s", record.handler_full_name, error, trace)
            await call_event_hook(
                event, EventType.OnPluginErrorEvent, star.name, record.handler_name, error, trace
            )
            if not event.is_stopped() and event.is_at_or_wake_command:
                # An `assert` says nothing by itself.
                why = str(error) or type(error).__name__
                said = language.say(
                    texts.HANDLER_FAILED, plugin=star.name, handler=record.handler_name, error=why
                )
                event.set_result(MessageEventResult().message(said))
                yield
                event.clear_result()
            event.stop_event()
