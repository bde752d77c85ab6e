"""`CmdCtl`: what a command returns or yields."""

from typing import Any

from nekro_agent.schemas.i18n import I18nDict, resolve_i18n
from nekro_agent.services.command.schemas import (
    CommandOutputSegment,
    CommandOutputSegmentType,
    CommandResponse,
    CommandResponseStatus,
)

CommandContent = str | I18nDict | list[CommandOutputSegment]


class CmdCtl:
    @staticmethod
    def message(content: CommandContent = "", *, data: dict[str, Any] | None = None) -> CommandResponse:
        """Something on the way; the command goes on."""
        return _response(CommandResponseStatus.PROCESSING, content, data)

    @staticmethod
    def success(content: CommandContent = "", *, data: dict[str, Any] | None = None) -> CommandResponse:
        return _response(CommandResponseStatus.SUCCESS, content, data)

    @staticmethod
    def failed(content: CommandContent = "", *, data: dict[str, Any] | None = None) -> CommandResponse:
        return _response(CommandResponseStatus.ERROR, content, data)

    @staticmethod
    def wait(
        message: str,
        callback_cmd: str,
        options: list[str] | None = None,
        timeout: float = 60.0,
        on_timeout_message: str = "",
        context_data: dict[str, Any] | None = None,
    ) -> CommandResponse:
        """The same person's next message here goes to the command `callback_cmd`."""
        return CommandResponse(
            status=CommandResponseStatus.WAITING,
            message=message,
            callback_cmd=callback_cmd,
            wait_options=options,
            wait_timeout=timeout,
            on_timeout_message=on_timeout_message,
            context_data=context_data,
        )


def _response(
    status: CommandResponseStatus, content: CommandContent, data: dict[str, Any] | None
) -> CommandResponse:
    """Compat(nekro): a text in front of other segments is the message."""
    if not isinstance(content, list):
        return CommandResponse(status=status, message=resolve_i18n(content), data=data)
    segments, message = list(content), ""
    if segments and segments[0].type is CommandOutputSegmentType.TEXT and segments[0].text.strip():
        message = segments.pop(0).text
    return CommandResponse(status=status, message=message, data=data, output_segments=segments or None)
