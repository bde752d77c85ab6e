"""Commands: what is known of one, who may use it, and how it runs."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from enum import Enum
from typing import Any

from pydantic import BaseModel, ConfigDict

from nekro_agent import texts
from nekro_agent.schemas.i18n import I18nDict, SupportedLang, get_text, say
from nekro_agent.services.command.parser import ArgumentParser
from nekro_agent.services.command.schemas import (
    CommandExecutionContext,
    CommandRequest,
    CommandResponse,
    CommandResponseStatus,
)

BUILT_IN_SOURCE = "built_in"


class CommandPermission(str, Enum):
    PUBLIC = "public"
    USER = "user"
    ADVANCED = "advanced"
    SUPER_USER = "super_user"


class CommandMetadata(BaseModel):
    name: str
    namespace: str = BUILT_IN_SOURCE
    aliases: list[str] = []
    description: str
    i18n_description: I18nDict | None = None
    usage: str = ""
    i18n_usage: I18nDict | None = None
    permission: CommandPermission = CommandPermission.PUBLIC
    category: str = "general"
    i18n_category: I18nDict | None = None
    source: str = BUILT_IN_SOURCE
    tags: list[str] = []
    params_schema: dict[str, Any] | None = None
    internal: bool = False

    def get_description(self, lang: SupportedLang = SupportedLang.ZH_CN) -> str:
        return get_text(self.i18n_description, self.description, lang)

    def get_category(self, lang: SupportedLang = SupportedLang.ZH_CN) -> str:
        return get_text(self.i18n_category, self.category, lang)

    def get_usage(self, lang: SupportedLang = SupportedLang.ZH_CN) -> str:
        return get_text(self.i18n_usage, self.usage, lang)


class BaseCommand(ABC):
    """A command; `execute` returns one response, or is a generator of several."""

    @property
    @abstractmethod
    def metadata(self) -> CommandMetadata: ...

    @abstractmethod
    def execute(self, context: CommandExecutionContext, **kwargs: Any) -> Any: ...

    def _parse_args(self, raw_args: str, lang: SupportedLang = SupportedLang.ZH_CN) -> dict[str, Any]:
        return ArgumentParser.parse(self.execute, raw_args, lang=lang)

    async def check_permission(self, context: CommandExecutionContext) -> tuple[bool, str | None]:
        wanted = self.metadata.permission
        allowed = {
            CommandPermission.SUPER_USER: context.is_super_user,
            CommandPermission.ADVANCED: context.is_advanced_user or context.is_super_user,
        }.get(wanted, True)
        return allowed, None if allowed else say(texts.UNAUTHORIZED[wanted.value])

    async def handle(self, request: CommandRequest) -> AsyncIterator[CommandResponse]:
        """Permission, arguments, execution: every outcome is a response."""
        allowed, reason = await self.check_permission(request.context)
        if not allowed:
            yield CommandResponse(status=CommandResponseStatus.UNAUTHORIZED, message=reason or "")
            return
        try:
            arguments = self._parse_args(request.raw_args, request.context.lang)
            async for response in _responses(self.execute(request.context, **arguments)):
                yield response
        # Compat(nekro): a ValueError means the arguments were wrong, also one from the handler.
        except ValueError as error:
            message = say(texts.INVALID_ARGUMENT, error=error)
            yield CommandResponse(status=CommandResponseStatus.INVALID_ARGS, message=message)
        except Exception as error:
            _log(self.metadata, error)
            message = say(texts.COMMAND_FAILED, error=str(error) or type(error).__name__)
            yield CommandResponse(status=CommandResponseStatus.ERROR, message=message)


async def _responses(result: Any) -> AsyncIterator[CommandResponse]:
    if inspect.isawaitable(result):
        result = await result
    if hasattr(result, "__aiter__"):
        async for response in result:
            yield response
    elif isinstance(result, CommandResponse):
        yield result
    elif result is not None:
        yield CommandResponse(status=CommandResponseStatus.SUCCESS, message=str(result))


def _log(metadata: CommandMetadata, error: Exception) -> None:
    from nekro_agent.core.logger import logger

    logger.opt(exception=error).error(f"the command {metadata.name} failed")


class PluginCommand(BaseModel):
    """What `mount_command` was told."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str
    description: str
    i18n_description: I18nDict | None = None
    aliases: list[str] = []
    permission: CommandPermission = CommandPermission.PUBLIC
    usage: str = ""
    i18n_usage: I18nDict | None = None
    category: str = "plugin"
    i18n_category: I18nDict | None = None
    source: str = ""
    namespace: str = ""
    tags: list[str] = []
    internal: bool = False
    execute_func: Callable[..., Any]


class PluginCommandAdapter(BaseCommand):
    def __init__(self, plugin_cmd: PluginCommand) -> None:
        self._cmd = plugin_cmd

    @property
    def metadata(self) -> CommandMetadata:
        schema = ArgumentParser.extract_params_schema(self._cmd.execute_func)
        return CommandMetadata(**self._cmd.model_dump(exclude={"execute_func"}), params_schema=schema)

    def execute(self, context: CommandExecutionContext, **kwargs: Any) -> Any:
        return self._cmd.execute_func(context, **kwargs)

    def _parse_args(self, raw_args: str, lang: SupportedLang = SupportedLang.ZH_CN) -> dict[str, Any]:
        return ArgumentParser.parse(self._cmd.execute_func, raw_args, lang=lang)
