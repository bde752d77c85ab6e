"""Decorators by which plugins register."""

from .agent import RegisteringAgent, register_agent, register_llm_tool
from .command import (
    RegisteringCommandable,
    register_command,
    register_command_group,
    register_custom_filter,
    register_event_message_type,
    register_permission_type,
    register_platform_adapter_type,
    register_regex,
)
from .hook import (
    register_after_message_sent,
    register_on_agent_begin,
    register_on_agent_done,
    register_on_astrbot_loaded,
    register_on_decorating_result,
    register_on_llm_request,
    register_on_llm_response,
    register_on_llm_tool_respond,
    register_on_platform_loaded,
    register_on_plugin_error,
    register_on_plugin_loaded,
    register_on_plugin_unloaded,
    register_on_using_llm_tool,
    register_on_waiting_llm_request,
)
from .star import register_star

__all__ = [
    "RegisteringAgent",
    "RegisteringCommandable",
    "register_after_message_sent",
    "register_agent",
    "register_command",
    "register_command_group",
    "register_custom_filter",
    "register_event_message_type",
    "register_llm_tool",
    "register_on_agent_begin",
    "register_on_agent_done",
    "register_on_astrbot_loaded",
    "register_on_decorating_result",
    "register_on_llm_request",
    "register_on_llm_response",
    "register_on_llm_tool_respond",
    "register_on_platform_loaded",
    "register_on_plugin_error",
    "register_on_plugin_loaded",
    "register_on_plugin_unloaded",
    "register_on_using_llm_tool",
    "register_on_waiting_llm_request",
    "register_permission_type",
    "register_platform_adapter_type",
    "register_regex",
    "register_star",
]
