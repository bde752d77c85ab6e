"""One record per handler function, however many decorators it wears."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..star_handler import EventType, StarHandlerMetadata, star_handlers_registry


def get_handler_full_name(awaitable: Callable[..., Any]) -> str:
    return f"{awaitable.__module__}_{awaitable.__name__}"


def get_handler_or_create(
    handler: Callable[..., Any], event_type: EventType, dont_add: bool = False, **kwargs: Any
) -> StarHandlerMetadata:
    """The record of `handler`; only the decorator applied first decides priority and description."""
    full_name = get_handler_full_name(handler)
    if known := star_handlers_registry.get_handler_by_full_name(full_name):
        return known
    described = (handler.__doc__ or "").strip()
    record = StarHandlerMetadata(
        event_type=event_type,
        handler_full_name=full_name,
        handler_name=handler.__name__,
        handler_module_path=handler.__module__,
        handler=handler,
        event_filters=[],
        desc=kwargs.pop("desc", described),
        extras_configs=kwargs,
    )
    if not dont_add:
        star_handlers_registry.append(record)
    return record
