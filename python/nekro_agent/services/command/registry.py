"""All commands of the process, by name, alias, or `namespace:name`."""

from collections.abc import AsyncIterator

from nekro_agent import texts
from nekro_agent.core.config import config
from nekro_agent.schemas.i18n import say
from nekro_agent.services.command.base import (
    BUILT_IN_SOURCE,
    BaseCommand,
    CommandMetadata,
    PluginCommand,
    PluginCommandAdapter,
)
from nekro_agent.services.command.schemas import CommandRequest, CommandResponse, CommandResponseStatus


class CommandRegistry:
    def __init__(self) -> None:
        self._commands: dict[str, BaseCommand] = {}

    def register(self, command: BaseCommand) -> None:
        about = command.metadata
        self._commands[f"{about.namespace}:{about.name}"] = command

    def register_plugin_command(self, plugin_cmd: PluginCommand) -> None:
        self.register(PluginCommandAdapter(plugin_cmd))

    def unregister_plugin_commands(self, source: str) -> None:
        self._commands = {
            name: command for name, command in self._commands.items() if command.metadata.source != source
        }

    def list_all_commands(self) -> list[CommandMetadata]:
        return [command.metadata for command in self._commands.values()]

    def candidates(self, name: str) -> dict[str, BaseCommand]:
        """Whatever `name` may mean, by full name; a name in full means one command."""
        wanted = _folded(name)
        return {
            full: command
            for full, command in self._commands.items()
            if wanted in _names(full, command.metadata)
        }

    def resolve(self, name: str) -> BaseCommand | None:
        found = self.candidates(name)
        return next(iter(found.values())) if len(found) == 1 else None

    def get_conflicting_candidates(self, name: str) -> list[str]:
        found = self.candidates(name)
        return list(found) if len(found) > 1 else []

    async def execute(self, request: CommandRequest) -> AsyncIterator[CommandResponse]:
        command = self.resolve(request.command_name)
        refusal = None if command else self._unresolved(request.command_name)
        if command is not None and not _is_enabled(command.metadata):
            message = say(texts.COMMAND_DISABLED, name=request.command_name)
            refusal = CommandResponse(status=CommandResponseStatus.DISABLED, message=message)
        if refusal is not None or command is None:
            if refusal is not None:
                yield refusal
            return
        async for response in command.handle(request):
            yield response

    def _unresolved(self, name: str) -> CommandResponse:
        rivals = self.get_conflicting_candidates(name)
        message = (
            say(texts.COMMAND_AMBIGUOUS, name=name, candidates=", ".join(rivals))
            if rivals
            else say(texts.COMMAND_UNKNOWN, name=name)
        )
        return CommandResponse(status=CommandResponseStatus.NOT_FOUND, message=message)


def _names(full: str, about: CommandMetadata) -> set[str]:
    short = [about.name, *about.aliases]
    return {_folded(name) for name in [full, *short, *(f"{about.namespace}:{it}" for it in short)]}


def _folded(name: str) -> str:
    """Compat(nekro): a hyphen stands for an underscore."""
    return name.replace("-", "_") if config.COMMAND_MATCH_ALLOW_HYPHEN_FOR_UNDERSCORE else name


def _is_enabled(about: CommandMetadata) -> bool:
    from nekro_agent.services.plugin.collector import plugin_collector

    if about.source == BUILT_IN_SOURCE:
        return True
    plugin = plugin_collector.get_plugin(about.source)
    return plugin is None or plugin.is_enabled


command_registry = CommandRegistry()
