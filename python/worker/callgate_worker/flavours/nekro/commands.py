"""The step `command`, and commands that wait for somebody's next message."""

from collections.abc import AsyncIterator
from typing import Any

from callgate_worker import host, language
from nekro_agent import chat_keys, parts, texts
from nekro_agent.schemas.agent_ctx import AgentCtx
from nekro_agent.schemas.i18n import get_system_lang, say
from nekro_agent.services.command.registry import command_registry
from nekro_agent.services.command.schemas import (
    CommandExecutionContext,
    CommandOutputSegment,
    CommandOutputSegmentType,
    CommandRequest,
    CommandResponse,
    CommandResponseStatus,
)
from nekro_agent.services.command.wait_manager import wait_manager


async def run(
    context: dict[str, Any], name: str, raw_args: str = "", said: str | None = None, **_: Any
) -> AsyncIterator[dict[str, Any]]:
    """Every response of the command; the host sends them. `said` is the message that gave it."""
    if said is not None:
        language.answer(said)
    # The folders of this session become known: a response may name files.
    AgentCtx.of_context(context)
    who = execution_context(context)
    wait_manager.cancel(who.chat_key, who.user_id)
    command = command_registry.resolve(name)
    if command is not None:
        host.plugin.set(command.metadata.source)
    request = CommandRequest(context=who, command_name=name, raw_args=raw_args)
    async for response in command_registry.execute(request):
        if response.status is CommandResponseStatus.WAITING and response.callback_cmd:
            await wait_manager.create_session(
                who.chat_key,
                who.user_id,
                response.callback_cmd,
                response.context_data,
                response.wait_timeout or 60.0,
                response.on_timeout_message or "",
            )
        yield told(response, who.chat_key)


def execution_context(context: dict[str, Any]) -> CommandExecutionContext:
    user, chat_key = context.get("user") or {}, context["chat_key"]
    is_operator = user.get("role") in ("operator", "admin", "super")
    return CommandExecutionContext(
        user_id=str(user.get("id") or ""),
        chat_key=chat_key,
        username=user.get("name") or str(user.get("id") or ""),
        adapter_key=chat_keys.adapter_of(chat_key),
        is_super_user=is_operator,
        is_advanced_user=is_operator or user.get("role") == "advanced",
        lang=get_system_lang(),
    )


def told(response: CommandResponse, chat_key: str) -> dict[str, Any]:
    """A response as data, with the parts of the message that the host is to send."""
    message = response.message
    if response.wait_options:
        message = say(texts.WAIT_OPTIONS, message=message, options=" / ".join(response.wait_options))
    shown = [{"type": "text", "text": message}] if message else []
    shown += [_part(segment, chat_key) for segment in response.output_segments or []]
    return {
        "status": response.status.value,
        "message": response.message,
        "parts": shown,
        "data": response.data,
        "waits": response.status is CommandResponseStatus.WAITING,
    }


def _part(segment: CommandOutputSegment, chat_key: str) -> dict[str, Any]:
    if segment.type is CommandOutputSegmentType.TEXT:
        return {"type": "text", "text": segment.text}
    is_image = segment.type is CommandOutputSegmentType.IMAGE
    return parts.media(segment.file_path or segment.web_url or "", chat_key, as_image=is_image)


async def take(context: dict[str, Any], message: dict[str, Any]) -> bool:
    """Gives the message to the command that waits for it; whether there was one."""
    user = (message.get("sender") or {}).get("id") or (context.get("user") or {}).get("id")
    session = wait_manager.try_consume(context["chat_key"], str(user or ""))
    if session is None:
        return False
    text = message.get("text") or "".join(
        part.get("text") or "" for part in message.get("parts") or [] if part["type"] == "text"
    )
    extra = " ".join(f'{name}:"{value}"' for name, value in session.context_data.items())
    async for response in run(context, session.callback_cmd, f"{text} {extra}".strip(), text):
        if response["parts"]:
            sending = {"session": session.chat_key, "parts": response["parts"], "record": False}
            await host.call("message_send", **sending, reference=None)
    return True
