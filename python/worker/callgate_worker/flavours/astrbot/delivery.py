"""A result on its way to the user: hooks before, what the configuration adds, sending, hooks after."""

from __future__ import annotations

import itertools
import logging
from typing import Any

logger = logging.getLogger("astrbot")


async def deliver(event: Any, config: Any) -> None:
    result = event.get_result()
    if result is not None and result.async_stream is not None:
        # Compat(astrbot): nothing is decorated that was seen before it was whole.
        await event.send_streaming(result.async_stream)
        return
    was_said, was_stopped = _was_said(result), event.is_stopped()
    await _decorate(event, config)
    if was_said:
        return
    if event.is_stopped() and not was_stopped:
        # A hook has stopped this very result.
        event.clear_result()
        return
    await _respond(event)


def _was_said(result: Any) -> bool:
    """Hooks only hear of it: what they change is not said again."""
    from astrbot.core.message.message_event_result import ResultContentType

    return result is not None and result.result_content_type == ResultContentType.STREAMING_FINISH


async def _decorate(event: Any, config: Any) -> None:
    from astrbot.core.message.components import At, Image, Plain, Reply
    from astrbot.core.pipeline.context_utils import belonging
    from astrbot.core.star.star_handler import EventType, star_handlers_registry

    result = event.get_result()
    if result is None or not result.chain:
        return
    for record in star_handlers_registry.get_handlers_by_event_type(
        EventType.OnDecoratingResultEvent, plugins_name=event.plugins_name
    ):
        with belonging(record):
            try:
                await record.handler(event)
            except Exception:
                logger.exception("hook on_decorating_result of %s failed", record.handler_module_path)
        if event.is_stopped():
            return
    result = event.get_result()
    if result is None or not result.chain:
        return
    settings = config["platform_settings"]
    first = next((part for part in result.chain if isinstance(part, Plain)), None)
    if settings["reply_prefix"] and first:
        first.text = settings["reply_prefix"] + first.text
    if config["t2i"] if result.use_t2i_ is None else result.use_t2i_:
        await _to_picture(result, config)
    if all(isinstance(part, Plain | Image) for part in result.chain):
        if settings["reply_with_mention"] and not event.is_private_chat():
            if isinstance(result.chain[0], Plain):
                result.chain[0].text = "\n" + result.chain[0].text
            result.chain.insert(0, At(qq=event.get_sender_id(), name=event.get_sender_name()))
        if settings["reply_with_quote"]:
            result.chain.insert(0, Reply(id=event.message_obj.message_id))


async def _to_picture(result: Any, config: Any) -> None:
    """`use_t2i(True)`: a long text as a picture; where none can be made the text is sent as it is."""
    from astrbot.core import html_renderer
    from astrbot.core.message.components import Image, Plain

    leading = itertools.takewhile(lambda part: isinstance(part, Plain), result.chain)
    text = "".join(f"\n\n{part.text}" for part in leading)
    if len(text) <= _threshold(config):
        return
    try:
        url = await html_renderer.render_t2i(text, return_url=True)
    except Exception as error:
        logger.warning("text is sent as text: %s", error)
        return
    result.chain = [Image.fromURL(url)]


def _threshold(config: Any) -> int:
    """Compat(astrbot): short texts stay texts, whatever a plugin asks for."""
    try:
        return max(int(config["t2i_word_threshold"]), 50)
    except (KeyError, TypeError, ValueError):
        return 150


async def _respond(event: Any) -> None:
    from astrbot.core.message.components import At, Plain, Record, Reply
    from astrbot.core.pipeline.context_utils import call_event_hook
    from astrbot.core.star.star_handler import EventType

    result = event.get_result()
    if result is None:
        return
    if result.chain:
        result.chain = [part for part in result.chain if not isinstance(part, Plain) or part.text.strip()]
        if all(isinstance(part, Reply | At) for part in result.chain):
            return
        alone = [part for part in result.chain if isinstance(part, Record)]
        together = [part for part in result.chain if not isinstance(part, Record)]
        for chain in [*([part] for part in alone), together]:
            if chain:
                await _send(event, result.derive(chain))
    await call_event_hook(event, EventType.OnAfterMessageSentEvent)
    event.clear_result()


async def _send(event: Any, chain: Any) -> None:
    try:
        await event.send(chain)
    except Exception:
        logger.exception("a message to %s was not sent", event.unified_msg_origin)
