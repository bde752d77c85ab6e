"""Handlers of events, ordered by priority."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .filter import HandlerFilter
from .star import star_map


class EventType(enum.Enum):
    OnAstrBotLoadedEvent = enum.auto()
    OnPlatformLoadedEvent = enum.auto()
    AdapterMessageEvent = enum.auto()
    OnWaitingLLMRequestEvent = enum.auto()
    OnLLMRequestEvent = enum.auto()
    OnLLMResponseEvent = enum.auto()
    OnAgentBeginEvent = enum.auto()
    OnAgentDoneEvent = enum.auto()
    OnDecoratingResultEvent = enum.auto()
    OnCallingFuncToolEvent = enum.auto()
    OnUsingLLMToolEvent = enum.auto()
    OnLLMToolRespondEvent = enum.auto()
    OnAfterMessageSentEvent = enum.auto()
    OnPluginErrorEvent = enum.auto()
    OnPluginLoadedEvent = enum.auto()
    OnPluginUnloadedEvent = enum.auto()


_FOR_ALL = (
    EventType.OnAstrBotLoadedEvent,
    EventType.OnPlatformLoadedEvent,
    EventType.OnPluginLoadedEvent,
    EventType.OnPluginUnloadedEvent,
)
H = TypeVar("H", bound=Callable[..., Any])


@dataclass
class StarHandlerMetadata(Generic[H]):
    event_type: EventType
    handler_full_name: str
    handler_name: str
    handler_module_path: str
    handler: H
    event_filters: list[HandlerFilter]
    desc: str = ""
    extras_configs: dict = field(default_factory=dict)
    enabled: bool = True

    def __lt__(self, other: StarHandlerMetadata) -> bool:
        return self.extras_configs.get("priority", 0) < other.extras_configs.get("priority", 0)


class StarHandlerRegistry(Generic[H]):
    def __init__(self) -> None:
        self.star_handlers_map: dict[str, StarHandlerMetadata] = {}
        self._handlers: list[StarHandlerMetadata] = []

    def append(self, handler: StarHandlerMetadata) -> None:
        handler.extras_configs.setdefault("priority", 0)
        self.star_handlers_map[handler.handler_full_name] = handler
        self._handlers.append(handler)
        self._handlers.sort(key=lambda known: -known.extras_configs["priority"])

    def get_handlers_by_event_type(
        self, event_type: EventType, only_activated: bool = True, plugins_name: list[str] | None = None
    ) -> list[StarHandlerMetadata]:
        chosen = []
        for handler in self._handlers:
            plugin = star_map.get(handler.handler_module_path)
            if handler.event_type != event_type or not handler.enabled:
                continue
            if only_activated and not (plugin and plugin.activated):
                continue
            if plugins_name is not None and plugins_name != ["*"]:
                if plugin is None:
                    continue
                if plugin.name not in plugins_name and event_type not in _FOR_ALL and not plugin.reserved:
                    continue
            chosen.append(handler)
        return chosen

    def get_handler_by_full_name(self, full_name: str) -> StarHandlerMetadata | None:
        return self.star_handlers_map.get(full_name)

    def get_handlers_by_module_name(self, module_name: str) -> list[StarHandlerMetadata]:
        return [handler for handler in self._handlers if handler.handler_module_path == module_name]

    def clear(self) -> None:
        self.star_handlers_map.clear()
        self._handlers.clear()

    def remove(self, handler: StarHandlerMetadata) -> None:
        self.star_handlers_map.pop(handler.handler_full_name, None)
        self._handlers = [known for known in self._handlers if known is not handler]

    def __iter__(self) -> Iterator[StarHandlerMetadata]:
        return iter(self._handlers)

    def __len__(self) -> int:
        return len(self._handlers)


star_handlers_registry: StarHandlerRegistry = StarHandlerRegistry()
