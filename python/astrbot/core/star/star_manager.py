"""`context._star_manager`: reloading and switching plugins, asked of the host."""

from __future__ import annotations

from typing import Any

from astrbot.core.exceptions import NotAvailableError
from callgate_worker import host

from .star import star_registry


class PluginManager:
    def __init__(self, context: Any = None, config: Any = None) -> None:
        self.context = context
        self.config = config
        self.failed_plugin_dict: dict[str, Any] = {}
        self.failed_plugin_info = ""

    async def reload(self, specified_plugin_name: str | None = None) -> tuple[bool, str | None]:
        names = [specified_plugin_name] if specified_plugin_name else [star.name for star in star_registry]
        for name in names:
            try:
                await host.call("plugin_reload", plugin=name)
            except host.HostError as error:
                return False, str(error)
        return True, None

    async def turn_off_plugin(self, plugin_name: str) -> None:
        await host.call("plugin_enable", plugin=plugin_name, enabled=False)

    async def turn_on_plugin(self, plugin_name: str) -> None:
        await host.call("plugin_enable", plugin=plugin_name, enabled=True)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotAvailableError(
            f"PluginManager.{name}: plugins are installed and updated by `callgate plugin`"
        )
