"""What a plugin mounts on its object: hooks, methods, commands, tasks, routes."""

from collections.abc import Callable
from typing import Any, TypeVar

from nekro_agent.schemas.i18n import I18nDict
from nekro_agent.services.command.base import CommandPermission, PluginCommand
from nekro_agent.services.command.group import CommandGroup
from nekro_agent.services.plugin.schema import (
    Handler,
    PromptInjectMethod,
    SandboxMethod,
    SandboxMethodType,
    WebhookMethod,
)
from nekro_agent.services.plugin.task import TaskRunner
from nekro_agent.services.plugin.webui import WebPages

F = TypeVar("F", bound=Callable[..., Any])


class Mounting(WebPages):
    module_name: str

    def __init__(self, webui_path: str | None) -> None:
        super().__init__(webui_path)
        self.reset_methods()

    def reset_methods(self) -> None:
        self.init_method: Handler | None = None
        self.cleanup_method: Handler | None = None
        self.prompt_inject_method: PromptInjectMethod | None = None
        self.on_reset_method: Handler | None = None
        self.on_user_message_method: Handler | None = None
        self.on_system_message_method: Handler | None = None
        self.sandbox_methods: list[SandboxMethod] = []
        self.webhook_methods: dict[str, WebhookMethod] = {}
        self._collect_methods_func: Handler | None = None
        self._async_tasks: dict[str, Callable[..., Any]] = {}
        self._commands: list[PluginCommand] = []
        self._on_enabled_callbacks: list[Handler] = []
        self._on_disabled_callbacks: list[Handler] = []
        self.reset_router()

    def mount_init_method(self) -> Callable[[F], F]:
        return self._mounts("init_method")

    def mount_cleanup_method(self) -> Callable[[F], F]:
        return self._mounts("cleanup_method")

    def mount_on_channel_reset(self) -> Callable[[F], F]:
        return self._mounts("on_reset_method")

    def mount_on_user_message(self) -> Callable[[F], F]:
        return self._mounts("on_user_message_method")

    def mount_on_system_message(self) -> Callable[[F], F]:
        return self._mounts("on_system_message_method")

    def mount_collect_methods(self) -> Callable[[F], F]:
        return self._mounts("_collect_methods_func")

    def _mounts(self, attribute: str) -> Callable[[F], F]:
        def decorator(func: F) -> F:
            setattr(self, attribute, func)
            return func

        return decorator

    def mount_prompt_inject_method(self, name: str, description: str = "") -> Callable[[F], F]:
        def decorator(func: F) -> F:
            self.prompt_inject_method = PromptInjectMethod(name, description, func)
            return func

        return decorator

    def mount_sandbox_method(
        self, method_type: SandboxMethodType, name: str, description: str = ""
    ) -> Callable[[F], F]:
        def decorator(func: F) -> F:
            func._method_type = method_type  # type: ignore[attr-defined]
            self.sandbox_methods.append(SandboxMethod(method_type, name, description, func))
            return func

        return decorator

    def mount_webhook_method(self, endpoint: str, name: str, description: str = "") -> Callable[[F], F]:
        def decorator(func: F) -> F:
            self.webhook_methods[endpoint] = WebhookMethod(name, description, func)
            return func

        return decorator

    def mount_async_task(self, task_type: str) -> Callable[[F], F]:
        def decorator(func: F) -> F:
            self._async_tasks[task_type] = func
            TaskRunner().register_task_type(task_type, func)
            return func

        return decorator

    def mount_command(
        self,
        name: str,
        description: str,
        aliases: list[str] | None = None,
        permission: CommandPermission | str | None = None,
        usage: str = "",
        category: str = "plugin",
        tags: list[str] | None = None,
        internal: bool = False,
        i18n_description: I18nDict | None = None,
        i18n_usage: I18nDict | None = None,
        i18n_category: I18nDict | None = None,
    ) -> Callable[[F], F]:
        def decorator(func: F) -> F:
            command = PluginCommand(
                name=name,
                description=description,
                i18n_description=i18n_description,
                aliases=list(aliases or []),
                permission=CommandPermission(permission or CommandPermission.PUBLIC),
                usage=usage,
                i18n_usage=i18n_usage,
                category=category,
                i18n_category=i18n_category,
                source=self.key,
                namespace=self.module_name,
                tags=list(tags or []),
                internal=internal,
                execute_func=func,
            )
            self._commands.append(command)
            return func

        return decorator

    def mount_command_group(
        self,
        name: str,
        description: str,
        permission: CommandPermission | str | None = None,
        category: str = "plugin",
        tags: list[str] | None = None,
    ) -> CommandGroup:
        return CommandGroup(
            name, description, self._commands, self.key, self.module_name, permission, category, tags
        )

    def on_enabled(self) -> Callable[[F], F]:
        return _adding(self._on_enabled_callbacks)

    def on_disabled(self) -> Callable[[F], F]:
        return _adding(self._on_disabled_callbacks)


def _adding(callbacks: list[Handler]) -> Callable[[F], F]:
    def decorator(func: F) -> F:
        callbacks.append(func)
        return func

    return decorator
