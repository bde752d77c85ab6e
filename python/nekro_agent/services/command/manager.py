"""Permissions of commands. They are as registered; the host decides who is an operator."""

from nekro_agent.services.command.base import CommandPermission


class CommandManager:
    def get_command_permission(
        self, command_name: str, default_permission: CommandPermission, chat_key: str | None = None
    ) -> CommandPermission:
        return default_permission

    def is_command_enabled(self, command_name: str, chat_key: str | None = None) -> bool:
        from nekro_agent.services.command.registry import command_registry

        return command_registry.resolve(command_name) is not None


command_manager = CommandManager()
