"""Chains on their way out, as the host's message parts."""

from __future__ import annotations

import json
import mimetypes
from contextvars import ContextVar
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
    Unknown,
    Video,
)
from astrbot.core.message.message_event_result import MessageChain
from astrbot.core.utils import media
from callgate_worker import host

_KINDS = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "file": "application/octet-stream"}
_NO_SUCH_PLACE = {"UnknownSession", "NotFound", "not_found", "unknown_session", "unknown_platform"}

bot: ContextVar[str | None] = ContextVar("bot", default=None)
"""The bot that heard what is being handled, where the platform has several."""
forwarding: set[str] = set()
"""Platforms that pass messages on as such, whatever is in them."""


async def send_chain(session: str, chain: MessageChain) -> bool:
    """True once the host has the message. False when it knows no such session."""
    forwards = session.partition(":")[0] in forwarding
    parts: list[dict[str, Any]] = []
    for component in chain.chain or []:
        made = _forwarded(component) if forwards and isinstance(component, Node | Nodes) else parts_of(component)
        parts += [await _reachable(part) for part in made]
        if forwards and isinstance(component, At):
            # Compat(astrbot): so that the name does not run into what follows.
            parts.append({"type": "text", "text": " "})
    return await _send(session, parts)


async def _send(session: str, parts: list[dict[str, Any]]) -> bool:
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
            return [{"type": "image", "url": _url(component, "image/png")}]
        case Record():
            return [{"type": "audio", "url": _url(component, "audio/wav")}]
        case Video():
            return [{"type": "video", "url": _url(component, "video/mp4")}]
        case File():
            return [{"type": "file", "name": component.name or "file", "url": _url(component)}]
        case AtAll():
            return [{"type": "mention", "id": "all", "name": "all"}]
        case At():
            return [{"type": "mention", "id": str(component.qq), "name": component.name or ""}]
        case Reply():
            return [{"type": "reply", "to": str(component.id)}]
        case Face():
            return [{"type": "face", "id": str(component.id)}]
        case Node() | Nodes() if _in_words(component):
            return [{"type": "forward", "messages": [_said(node) for node in _nodes(component)]}]
        case Node():
            inner = [part for one in component.content for part in parts_of(one)]
            return [{"type": "text", "text": f"{component.name or component.uin}:\n"}, *inner]
        case Nodes():
            return [part for node in component.nodes for part in parts_of(node)]
        case Json():
            card = json.dumps(component.data, ensure_ascii=False)
            return [{"type": "other", "kind": "json", "data": {"data": card}}]
        case Unknown():
            return [{"type": "text", "text": component.text}]
        case _:
            made = component.toDict()
            return [{"type": "other", "kind": made["type"], "data": made["data"]}]


def _forwarded(component: Node | Nodes) -> list[dict[str, Any]]:
    """Each with who said it; the bot itself need not be named."""
    messages = []
    for node in _nodes(component):
        inner = [
            part
            for one in node.content
            for part in (_forwarded(one) if isinstance(one, Node | Nodes) else parts_of(one))
        ]
        message: dict[str, Any] = {"name": node.name or str(node.uin), "text": ""}
        if str(node.uin or "0") not in ("0", bot.get()):
            message["id"] = str(node.uin)
        if all(part["type"] == "text" for part in inner):
            message["text"] = "".join(part["text"] for part in inner)
        else:
            message["parts"] = inner
        messages.append(message)
    return [{"type": "forward", "messages": messages}]


def _nodes(component: Node | Nodes) -> list[Node]:
    return component.nodes if isinstance(component, Nodes) else [component]


def _in_words(component: Node | Nodes) -> bool:
    """They say nothing but words, and in nobody else's name."""
    return all(
        str(node.uin or "0") in ("0", bot.get()) and all(isinstance(part, Plain) for part in node.content)
        for node in _nodes(component)
    )


def _said(node: Node) -> dict[str, str]:
    return {"name": node.name or str(node.uin), "text": "".join(part.text for part in node.content)}


async def _reachable(part: dict[str, Any]) -> dict[str, Any]:
    """The host opens no files of ours: local ones, and those behind our own URLs, travel in the message."""
    from astrbot.core import file_token_service

    if part["type"] == "forward":
        return {**part, "messages": [await _message_reachable(message) for message in part["messages"]]}
    source = part.get("url")
    if source is None or source.startswith("data:"):
        return part
    path = file_token_service.path_of(source) or media.local(source)
    if path is None:
        return part
    kind = mimetypes.guess_type(path)[0] or _KINDS[part["type"]]
    return {**part, "url": f"data:{kind};base64,{await media.to_base64(path)}"}


async def _message_reachable(message: dict[str, Any]) -> dict[str, Any]:
    if "parts" not in message:
        return message
    return {**message, "parts": [await _reachable(part) for part in message["parts"]]}


def _url(component: Image | Record | Video | File, mime: str = "application/octet-stream") -> str:
    """Compat(astrbot): `base64://` is a scheme of its own."""
    if isinstance(component, File):
        source = component.file_ or component.url or ""
    else:
        try:
            source = component._source()
        except Exception:
            # It leads nowhere here; whoever sends it may know better.
            source = component.file or component.url or ""
    inline = source.startswith("base64://")
    return f"data:{mime};base64,{source.removeprefix('base64://')}" if inline else source
