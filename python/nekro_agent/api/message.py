"""Messages into a chat. Files and images are named by sandbox path or URL."""

from nekro_agent.schemas.agent_ctx import AgentCtx
from nekro_agent.schemas.agent_message import AgentMessageSegment, AgentMessageSegmentType
from nekro_agent.schemas.chat_message import ChatMessage
from nekro_agent.services.chat.universal_chat_service import universal_chat_service
from nekro_agent.services.message_service import message_service
from nekro_agent.tools.common_util import download_file
from nekro_agent.tools.path_convertor import convert_filename_to_sandbox_upload_path

__all__ = [
    "ChatMessage", "download_from_url", "message_service", "push_system", "send_file", "send_image",
    "send_text", "universal_chat_service",
]


async def send_text(
    chat_key: str, message: str, ctx: AgentCtx, *, record: bool = True, ref_msg_id: str | None = None
) -> None:
    await _send(AgentMessageSegmentType.TEXT, chat_key, message, ctx, record, ref_msg_id)


async def send_image(
    chat_key: str, image_path: str, ctx: AgentCtx, *, record: bool = True, ref_msg_id: str | None = None
) -> None:
    await _send(AgentMessageSegmentType.IMAGE, chat_key, image_path, ctx, record, ref_msg_id)


async def send_file(
    chat_key: str, file_path: str, ctx: AgentCtx, *, record: bool = True, ref_msg_id: str | None = None
) -> None:
    await _send(AgentMessageSegmentType.FILE, chat_key, file_path, ctx, record, ref_msg_id)


async def push_system(
    chat_key: str, message: str, ctx: AgentCtx | None = None, trigger_agent: bool = False
) -> None:
    """A system row in the chat's log; `trigger_agent` also starts a turn."""
    await message_service.push_system_message(chat_key, message, trigger_agent)


async def download_from_url(url: str, ctx: AgentCtx) -> str:
    """The sandbox path of what the URL holds."""
    _, name = await download_file(url, from_chat_key=ctx.chat_key)
    return str(convert_filename_to_sandbox_upload_path(name))


async def _send(
    kind: AgentMessageSegmentType,
    chat_key: str,
    content: str,
    ctx: AgentCtx | None,
    record: bool,
    reference: str | None,
) -> None:
    segment = AgentMessageSegment(type=kind, content=str(content))
    await universal_chat_service.send_agent_message(
        chat_key, [segment], None, ctx, record=record, ref_msg_id=reference
    )
