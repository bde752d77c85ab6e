"""Requests and responses of commands, and the description of an argument."""

import mimetypes
from enum import Enum
from pathlib import PurePath
from typing import Any, Self

from pydantic import BaseModel, model_validator

from nekro_agent.schemas.i18n import SupportedLang

_UNSET = object()


class CommandExecutionContext(BaseModel):
    """Who typed the command, and where."""

    user_id: str
    chat_key: str
    username: str
    adapter_key: str
    is_super_user: bool = False
    is_advanced_user: bool = False
    lang: SupportedLang = SupportedLang.ZH_CN


class CommandRequest(BaseModel):
    context: CommandExecutionContext
    command_name: str
    raw_args: str = ""


class CommandResponseStatus(str, Enum):
    SUCCESS = "success"
    ERROR = "error"
    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not_found"
    INVALID_ARGS = "invalid_args"
    DISABLED = "disabled"
    PROCESSING = "processing"
    WAITING = "waiting"


class CommandOutputSegmentType(str, Enum):
    TEXT = "text"
    IMAGE = "image"
    FILE = "file"


class CommandOutputSegment(BaseModel):
    type: CommandOutputSegmentType
    text: str = ""
    file_path: str | None = None
    file_name: str | None = None
    mime_type: str | None = None
    web_url: str | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.file_path and self.type is not CommandOutputSegmentType.TEXT:
            self.file_name = self.file_name or PurePath(self.file_path).name or None
            guessed = mimetypes.guess_type(self.file_name or self.file_path)[0]
            self.mime_type = self.mime_type or guessed or "application/octet-stream"
        return self


class CommandResponse(BaseModel):
    status: CommandResponseStatus
    message: str
    data: dict[str, Any] | None = None
    output_segments: list[CommandOutputSegment] | None = None
    callback_cmd: str | None = None
    wait_options: list[str] | None = None
    wait_timeout: float | None = None
    on_timeout_message: str | None = None
    context_data: dict[str, Any] | None = None


class Arg:
    """An argument: `x: Annotated[str, Arg("..")] = ".."`, or as the default value itself."""

    def __init__(
        self,
        description: str = "",
        *,
        default: Any = _UNSET,
        positional: bool = False,
        greedy: bool = False,
        choices: list[str] | None = None,
        range: tuple[Any, Any] | None = None,
        prompt_hint: str | None = None,
    ) -> None:
        self.description = description
        self.default = default
        self.positional = positional
        self.greedy = greedy
        self.choices = choices
        self.range = range
        self.prompt_hint = prompt_hint

    @property
    def has_default(self) -> bool:
        return self.default is not _UNSET
