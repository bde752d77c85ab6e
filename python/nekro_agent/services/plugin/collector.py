"""All plugins of the process, in the order they were loaded."""

from typing import Any

from nekro_agent.schemas.agent_ctx import AgentCtx
from nekro_agent.schemas.chat_message import ChatMessage
from nekro_agent.schemas.signal import MsgSignal, merge
from nekro_agent.services.plugin.base import NekroPlugin
from nekro_agent.services.plugin.schema import Handler, SandboxMethod


class PluginCollector:
    def __init__(self) -> None:
        self.loaded_plugins: dict[str, NekroPlugin] = {}
        self.loaded_module_names: set[str] = set()

    def get_plugin(self, key: str) -> NekroPlugin | None:
        return self.loaded_plugins.get(key)

    def get_plugin_by_module_name(self, module_name: str) -> NekroPlugin | None:
        return next((it for it in self.loaded_plugins.values() if it.module_name == module_name), None)

    def get_all_plugins(self) -> list[NekroPlugin]:
        return list(self.loaded_plugins.values())

    def get_all_package_plugins(self) -> list[NekroPlugin]:
        return [plugin for plugin in self.loaded_plugins.values() if plugin.is_package]

    def get_all_active_plugins(self) -> list[NekroPlugin]:
        return [plugin for plugin in self.loaded_plugins.values() if plugin.is_enabled]

    def get_method(self, method_name: str) -> Handler | None:
        """By function name; of several, that of the plugin loaded first."""
        for plugin in self.loaded_plugins.values():
            for method in plugin.sandbox_methods:
                if method.func.__name__ == method_name:
                    return method.func
        return None

    async def get_all_sandbox_methods(self, ctx: AgentCtx | None = None) -> list[SandboxMethod]:
        methods: list[SandboxMethod] = []
        for plugin in self.get_all_active_plugins():
            methods += await plugin.collect_available_methods(ctx) if ctx else plugin.sandbox_methods
        return methods

    async def handle_on_user_message(self, ctx: AgentCtx, message: ChatMessage) -> MsgSignal:
        return await self._ask_all("on_user_message_method", ctx, message)

    async def handle_on_system_message(self, ctx: AgentCtx, message: str) -> MsgSignal:
        return await self._ask_all("on_system_message_method", ctx, message)

    async def _ask_all(self, hook: str, *given: Any) -> MsgSignal:
        hooks = [getattr(plugin, hook) for plugin in self.get_all_active_plugins()]
        return merge([await function(*given) for function in hooks if function is not None])

    async def chat_channel_on_reset(self, ctx: AgentCtx) -> None:
        for plugin in self.get_all_active_plugins():
            if plugin.on_reset_method is not None:
                await plugin.on_reset_method(ctx)

    def get_webhook_methods_by_endpoint(self, endpoint: str) -> list[tuple[str, Handler]]:
        return [
            (plugin.key, plugin.webhook_methods[endpoint].func)
            for plugin in self.get_all_active_plugins()
            if endpoint in plugin.webhook_methods
        ]

    def get_plugins_with_router(self) -> list[NekroPlugin]:
        return [plugin for plugin in self.loaded_plugins.values() if plugin.has_router]


plugin_collector = PluginCollector()
