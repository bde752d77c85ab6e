"""Hooks of the event's way: one decorator per point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..star_handler import EventType
from .handler import get_handler_or_create


def _hook(event_type: EventType):
    def register(**kwargs: Any):
        def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
            get_handler_or_create(function, event_type, **kwargs)
            return function

        return decorator

    register.__doc__ = f"Runs the function at `{event_type.name}`."
    return register


register_on_astrbot_loaded = _hook(EventType.OnAstrBotLoadedEvent)
register_on_platform_loaded = _hook(EventType.OnPlatformLoadedEvent)
register_on_plugin_error = _hook(EventType.OnPluginErrorEvent)
register_on_plugin_loaded = _hook(EventType.OnPluginLoadedEvent)
register_on_plugin_unloaded = _hook(EventType.OnPluginUnloadedEvent)
register_on_waiting_llm_request = _hook(EventType.OnWaitingLLMRequestEvent)
register_on_llm_request = _hook(EventType.OnLLMRequestEvent)
register_on_llm_response = _hook(EventType.OnLLMResponseEvent)
register_on_agent_begin = _hook(EventType.OnAgentBeginEvent)
register_on_agent_done = _hook(EventType.OnAgentDoneEvent)
register_on_using_llm_tool = _hook(EventType.OnUsingLLMToolEvent)
register_on_llm_tool_respond = _hook(EventType.OnLLMToolRespondEvent)
register_on_decorating_result = _hook(EventType.OnDecoratingResultEvent)
register_after_message_sent = _hook(EventType.OnAfterMessageSentEvent)
