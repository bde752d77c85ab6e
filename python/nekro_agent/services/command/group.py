"""Commands below a common name: `group.sub`."""

from collections.abc import Callable
from typing import Any, TypeVar

from nekro_agent.schemas.i18n import I18nDict
from nekro_agent.services.command.base import CommandPermission, PluginCommand

F = TypeVar("F", bound=Callable[..., Any])


class CommandGroup:
    def __init__(
        self,
        group_name: str,
        description: str,
        commands_list: list[PluginCommand],
        source: str,
        namespace: str,
        permission: CommandPermission | str | None = None,
        category: str = "plugin",
        tags: list[str] | None = None,
    ) -> None:
        self._name = group_name
        self._description = description
        self._commands = commands_list
        self._source = source
        self._namespace = namespace
        self._permission = permission
        self._category = category
        self._tags = tags or []

    def command(
        self,
        name: str,
        description: str,
        aliases: list[str] | None = None,
        permission: CommandPermission | str | None = None,
        usage: str = "",
        category: str = "",
        tags: list[str] | None = None,
        internal: bool = False,
        i18n_description: I18nDict | None = None,
        i18n_usage: I18nDict | None = None,
        i18n_category: I18nDict | None = None,
    ) -> Callable[[F], F]:
        """What is not said here is as the group says."""

        def decorator(func: F) -> F:
            full = f"{self._name}.{name}"
            command = PluginCommand(
                name=full,
                description=description,
                i18n_description=i18n_description,
                aliases=[f"{self._name}.{alias}" for alias in aliases or []],
                permission=CommandPermission(permission or self._permission or CommandPermission.PUBLIC),
                usage=usage or full,
                i18n_usage=i18n_usage,
                category=category or self._category,
                i18n_category=i18n_category,
                source=self._source,
                namespace=self._namespace,
                tags=tags or self._tags,
                internal=internal,
                execute_func=func,
            )
            self._commands.append(command)
            return func

        return decorator
