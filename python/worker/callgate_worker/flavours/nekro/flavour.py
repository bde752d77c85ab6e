"""The flavour object: the life of plugins, and which function answers which step."""

import contextlib
import inspect
from typing import Any

from callgate_worker import host
from callgate_worker.flavour import Loaded, Source, Step
from callgate_worker.flavours.nekro import commands, describe, hooks, loading, matchers, nonebots, notices, scenario, web
from nekro_agent import absent, platforms
from nekro_agent.core.config import learn
from nekro_agent.core.core_utils import ConfigManager, preset
from nekro_agent.core.logger import logger, write_to_host
from nekro_agent.models import sql
from nekro_agent.services.command.registry import command_registry
from nekro_agent.services.config_service import ConfigService
from nekro_agent.services.plugin.base import NekroPlugin, home
from nekro_agent.services.plugin.collector import plugin_collector
from nekro_agent.services.plugin.task import task


class Nekro:
    name = "nekro"

    def __init__(self) -> None:
        self._ready = False
        self._sources: dict[str, Source] = {}
        self._matchers: dict[str, set[Any]] = {}
        self.web = web.application
        self.steps: dict[str, Step] = {
            "call": hooks.call,
            "message": hooks.message,
            "notice": notices.notice,
            "system_message": hooks.system_message,
            "collect": hooks.collect,
            "reset": hooks.reset,
            "webhook": hooks.webhook,
            "task": hooks.tasks,
            "command": commands.run,
            "timer": hooks.timer,
            "config_get": self.config_get,
            "config_set": self.config_set,
            "enabled": self.enabled,
            "disabled": self.disabled,
            "settings": self.settings,
            "inject": scenario.inject,
            "prompt": scenario.prompt,
            "cleanup": scenario.cleanup,
            "run": self.run,
        }

    async def load(self, source: Source) -> Loaded:
        """Imports, runs the init hook, and makes the plugin known. What is loaded already is
        unloaded first."""
        await self._prepare()
        entry = loading.locate(source.path)
        await self._unload_from(source)
        if loading.mentions(entry, b"nonebot"):
            nonebots.start()
        if loading.mentions(entry, b"tortoise"):
            sql.offer()
        if source.options.get("config"):
            preset(source.data / "config.yaml", source.options["config"])
        before, matching = dict(absent.touched), matchers.known()
        token = home.set(source.data)
        try:
            plugin = loading.plugin_of(loading.load(entry))
        finally:
            home.reset(token)
        host.plugin.set(plugin.key)
        if plugin.key in plugin_collector.loaded_plugins:
            await self.unload(plugin.key)
        try:
            if plugin.init_method is not None:
                await _awaited(plugin.init_method())
        except BaseException:
            loading.forget(loading.module_name(entry), entry)
            raise
        self._sources[plugin.key] = source
        self._matchers[plugin.key] = matchers.known() - matching
        plugin._is_enabled = bool(source.options.get("enabled", True))
        plugin._is_builtin = bool(source.options.get("builtin", False))
        plugin._is_package = not plugin._is_builtin
        plugin_collector.loaded_plugins[plugin.key] = plugin
        for command in plugin._commands:
            command_registry.register_plugin_command(command)
        if plugin.is_enabled:
            await plugin.trigger_callbacks("enabled")
        loaded = describe.loaded(plugin, describe.newly_touched(before))
        if self._matchers[plugin.key] and "message" not in loaded.hooks:
            loaded.hooks.append("message")
        return loaded

    async def unload(self, plugin: str) -> None:
        """Runs the cleanup hook and forgets everything, whatever the hook does."""
        found = plugin_collector.loaded_plugins.pop(plugin, None)
        source = self._sources.pop(plugin, None)
        if found is None:
            return
        host.plugin.set(plugin)
        command_registry.unregister_plugin_commands(plugin)
        web.forget(plugin)
        matchers.forget(self._matchers.pop(plugin, ()))
        try:
            await task.stop_plugin(found)
            if found.cleanup_method is not None:
                await _awaited(found.cleanup_method())
        except Exception as error:
            logger.opt(exception=error).error(f"{plugin}: its cleanup failed: {error!r}")
        ConfigManager.unregister_config(f"plugin_{plugin}")
        if source is not None:
            with contextlib.suppress(ImportError):
                entry = loading.locate(source.path)
                loading.forget(loading.module_name(entry), entry)

    async def _unload_from(self, source: Source) -> None:
        for key, known in list(self._sources.items()):
            if known.path == source.path:
                await self.unload(key)

    async def _prepare(self) -> None:
        """Before the first plugin: logging and timers. Before each: the host's settings."""
        if not self._ready:
            self._ready = True
            write_to_host()
            from nekro_agent.services.timer.recurring_timer_service import recurring_timer_service
            from nekro_agent.services.timer.timer_service import timer_service

            await timer_service.start()
            await recurring_timer_service.start()
        await self.settings(await _told("settings_get", {}), await _told("model_list", []))

    async def settings(self, settings: dict[str, Any], models: list[dict[str, Any]], **_: Any) -> None:
        """The host's settings have changed."""
        gateway = await _told("model_gateway", {})
        platforms.learn((settings or {}).get("platforms") or {})
        learn({**(settings or {}), "gateway": gateway}, models or [])

    async def config_get(self, plugin: str) -> dict[str, Any]:
        return describe.config(known(plugin))

    async def config_set(self, plugin: str, values: dict[str, Any]) -> dict[str, Any]:
        """Changes the live object and its file, all values or none."""
        found = known(plugin)
        config = found.get_config()
        trial = config.model_copy(deep=True)
        tried = [ConfigService.set_config_value(trial, name, value) for name, value in values.items()]
        if wrong := [reason for done, reason in tried if not done]:
            # A line for each field, so that a form can show it there.
            raise ValueError("\n".join(wrong))
        ConfigService.batch_update_config(config, values)
        found.save_config(config)
        config.load_config_to_env()
        return describe.config(found)

    async def enabled(self, plugin: str) -> None:
        await known(plugin).enable()

    async def disabled(self, plugin: str) -> None:
        await known(plugin).disable()

    async def run(self, plugin: str, context: dict[str, Any], source: str) -> str:
        """A step of a scenario. Only plugins that were loaded for one allow it."""
        given = self._sources.get(plugin)
        if given is None or not given.options.get("scenario"):
            raise PermissionError(f"{plugin} was not loaded for a scenario")
        return await scenario.run(known(plugin), context, source)


def known(plugin: str) -> NekroPlugin:
    found = plugin_collector.get_plugin(plugin)
    if found is None:
        raise LookupError(f"the plugin {plugin} is not loaded")
    return found


async def _awaited(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result


async def _told(name: str, otherwise: Any) -> Any:
    try:
        return await host.call(name)
    except host.HostError:
        return otherwise
