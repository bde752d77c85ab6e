"""Chains on their way out, as the host's message parts."""

from __future__ import annotations

import json
import mimetypes
from typing import Any

from astrbot import logger
from astrbot.core.message.components import (
    At,
    AtAll,
    BaseMessageComponent,
    Face,
    File,
    Image,
    Json,
    Node,
    Nodes,
    Plain,
    Record,
    Reply,
    Video,
)
from astrbot.core.message.message_event_result import MessageChain
from astrbot.core.utils import media
from callgate_worker import host

_KINDS = {"image": "image/png", "audio": "audio/wav", "file": "application/octet-stream"}
_NO_SUCH_PLACE = {"UnknownSession", "NotFound", "not_found", "unknown_session", "unknown_platform"}


async def send_chain(session: str, chain: MessageChain) -> bool:
    """True once the host has the message. False when it knows no such session."""
    parts = [await _reachable(part) for component in chain.chain or [] for part in parts_of(component)]
    if not parts:
        return True
    try:
        await host.call("message_send", session=session, parts=parts)
    except host.HostError as error:
        if error.type in _NO_SUCH_PLACE:
            logger.warning("no platform for session %s, message not sent", session)
            return False
        raise
    return True


def parts_of(component: BaseMessageComponent) -> list[dict[str, Any]]:
    match component:
        case Plain():
            return [{"type": "text", "text": component.text}]
        case Image():
            return [{"type": "image", "url": _url(component.file or component.url or "", "image/png")}]
        case Record():
            return [{"type": "audio", "url": _url(component.file or component.url or "", "audio/wav")}]
        case Video():
            return [{"type": "file", "name": "video.mp4", "url": _url(component.file, "video/mp4")}]
        case File():
            return [
                {
                    "type": "file",
                    "name": component.name or "file",
                    "url": _url(component.file_ or component.url or ""),
                }
            ]
        case AtAll():
            return [{"type": "mention", "id": "all", "name": "all"}]
        case At():
            return [{"type": "mention", "id": str(component.qq), "name": component.name or ""}]
        case Reply():
            return [{"type": "reply", "to": str(component.id)}]
        case Face():
            return [{"type": "text", "text": f"[Face:{component.id}]"}]
        case Node():
            inner = [part for one in component.content for part in parts_of(one)]
            return [{"type": "text", "text": f"{component.name or component.uin}:\n"}, *inner]
        case Nodes():
            return [part for node in component.nodes for part in parts_of(node)]
        case Json():
            return [{"type": "text", "text": json.dumps(component.data, ensure_ascii=False)}]
        case _:
            return [{"type": "text", "text": f"[{type(component).__name__}]"}]


async def _reachable(part: dict[str, Any]) -> dict[str, Any]:
    """The host opens no files of ours: local ones, and those behind our own URLs, travel in the message."""
    from astrbot.core import file_token_service

    source = part.get("url")
    if source is None or source.startswith("data:"):
        return part
    path = file_token_service.path_of(source) or media.local(source)
    if path is None:
        return part
    kind = mimetypes.guess_type(path)[0] or _KINDS[part["type"]]
    return {**part, "url": f"data:{kind};base64,{await media.to_base64(path)}"}


def _url(source: str, mime: str = "application/octet-stream") -> str:
    """Compat(astrbot): `base64://` is a scheme of its own."""
    return (
        f"data:{mime};base64,{source.removeprefix('base64://')}" if source.startswith("base64://") else source
    )
