"""How eagerly a plugin's methods are to be used."""

from typing import Literal

from nekro_agent.core.config import config

PluginCallPriority = Literal["auto", "high", "medium", "low"]


def get_plugin_call_priority(module_name: str) -> PluginCallPriority:
    return config.PLUGIN_CALL_PRIORITIES.get(module_name, "auto")
