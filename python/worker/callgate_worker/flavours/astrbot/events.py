"""Events from what the host says of a message."""

from __future__ import annotations

import logging
import uuid
from typing import Any

from callgate_worker import host
from callgate_worker.flavours.astrbot.runtime import Runtime

logger = logging.getLogger("astrbot")


async def build(runtime: Runtime, ref: str, message: dict[str, Any], facts: dict[str, Any]) -> Any:
    platform_id = message["session"].partition(":")[0]
    adapter = facts.get("adapter") or {}
    name = facts.get("platform") or platform_id
    platform = runtime.context.platform_manager.get(platform_id, name, adapter.get("kind"))
    message = {**message, "parts": await _reachable(message)}
    if adapter.get("kind") == "onebot":
        arrived = await _of_onebot(platform, message, adapter)
    else:
        arrived = _arrived(platform.meta().name, ref, message)
        if adapter:
            _as_told(arrived, adapter)
        if adapter.get("kind") == "telegram":
            arrived = await platform.told(arrived, adapter["bot"])
    event = platform.create_event(arrived)
    # Compat(astrbot): plugins look administrators up in the configuration, by account alone. The host knows
    # who is one by platform and by the way they came, so that whoever speaks stands there if they are one.
    known, account = runtime.context.get_config()["admins_id"], event.get_sender_id()
    if facts.get("role") == "operator":
        event.role = "admin"
        if account not in known:
            known.append(account)
    elif account in known:
        known.remove(account)
    # A notice stands in no log: what is begun for it answers no row, and has a name of its own.
    event.callgate_ref = ref if facts.get("row") != 0 else f"notice-{uuid.uuid4().hex}"
    event.set_extra("callgate_row", facts.get("row") or None)
    # By name, chance or another rule of the session: the model answers, though no command is meant.
    event.set_extra("callgate_wanted", bool(facts.get("wanted")))
    # A command of the host's own: it is answered, and handlers of that name run as well.
    event._has_send_oper = bool(facts.get("obeyed"))
    return event


def _arrived(platform: str, ref: str, message: dict[str, Any]) -> Any:
    from astrbot.core.platform.astrbot_message import AstrBotMessage, Group, MessageMember
    from astrbot.core.platform.elsewhere import RawMessage
    from astrbot.core.platform.message_type import MessageType

    platform_id, kind, session = message["session"].split(":", 2)
    arrived = AstrBotMessage()
    arrived.type = MessageType(kind)
    # Of several bots of a platform nobody knows which one is meant.
    arrived.self_id = str(message.get("self_id") or ("" if platform == "aiocqhttp" else platform_id))
    arrived.session_id = session
    arrived.message_id = str(message.get("id") or ref)
    sender = message.get("sender") or {}
    arrived.sender = MessageMember(str(sender.get("id") or ""), sender.get("nickname") or sender.get("name"))
    arrived.message = components(message["parts"] or [{"type": "text", "text": message.get("text") or ""}])
    arrived.message_str = message.get("text") or _text(arrived.message)
    arrived.raw_message = RawMessage(platform)
    if message.get("time"):
        arrived.timestamp = int(message["time"])
    group = message.get("group")
    if group is None and arrived.type == MessageType.GROUP_MESSAGE:
        group = {"id": session}
    if group:
        arrived.group = Group(str(group["id"]), group.get("name"))
    return arrived


def _as_told(arrived: Any, adapter: dict[str, Any]) -> None:
    """With what its platform says of it in its own words."""
    arrived.self_id = adapter["bot"] or arrived.self_id
    arrived.raw_message = adapter["raw"]
    if arrived.group and adapter.get("chat_name"):
        arrived.group.group_name = adapter["chat_name"]


async def _of_onebot(platform: Any, message: dict[str, Any], adapter: dict[str, Any]) -> Any:
    """As the platform told it; names and files are those that the host has found already."""
    from aiocqhttp import Event

    from astrbot.core.platform import outbox
    from astrbot.core.platform.sources.aiocqhttp import segments

    outbox.bot.set(adapter["bot"])
    raw = Event(adapter["raw"])
    await platform.bot.heard(raw)
    found = segments.Found.of(message["parts"])
    arrived = await platform.convert_message(raw, found)
    if arrived.group and adapter.get("chat_name"):
        arrived.group.group_name = adapter["chat_name"]
    return arrived


async def _reachable(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Files of the session lie elsewhere for a plugin than for the code of its chat."""
    parts = message.get("parts") or []
    if not any(str(part.get("url")).startswith("/app/") for part in parts):
        return parts
    try:
        folders = await host.call("session_folders", session=message["session"])
    except host.HostError as error:
        logger.warning("the files of %s are not known: %s", message["session"], error)
        return parts
    made = []
    for part in parts:
        _, app, folder, *names = str(part.get("url")).split("/") + [""] * 3
        inside = app == "app" and folder in folders and ".." not in names
        names = [name for name in names if name]
        made.append({**part, "url": "/".join([folders[folder], *names])} if inside else part)
    return made


def components(parts: list[dict[str, Any]]) -> list[Any]:
    from astrbot.core.message import components as all_kinds

    made: list[Any] = []
    for part in parts:
        match part:
            case {"type": "text", "text": text}:
                made.append(all_kinds.Plain(text))
            case {"type": "image", "url": url}:
                made.append(all_kinds.Image(file=url, url=url))
            case {"type": "audio", "url": url}:
                made.append(all_kinds.Record(file=url, url=url))
            case {"type": "video", "url": url}:
                made.append(all_kinds.Video(file=url, url=url))
            case {"type": "face", "id": id} if str(id).isdigit():
                made.append(all_kinds.Face(id=id))
            case {"type": "forward", "id": str(id)}:
                made.append(all_kinds.Forward(id=id))
            case {"type": "file", "url": url}:
                name = part.get("name") or "file"
                remote = url.startswith(("http://", "https://"))
                made.append(
                    all_kinds.File(name=name, url=url) if remote else all_kinds.File(name=name, file=url)
                )
            case {"type": "mention", "id": "all"}:
                made.append(all_kinds.AtAll())
            case {"type": "mention", "id": id}:
                made.append(all_kinds.At(qq=id, name=part.get("name") or ""))
            case {"type": "reply", "to": to}:
                text = part.get("text") or ""
                quoted: list[Any] = [all_kinds.Plain(text)] if text else []
                made.append(
                    all_kinds.Reply(
                        id=to, message_str=text, text=text, chain=quoted, sender_id=part.get("sender")
                    )
                )
            case _:
                made.append(all_kinds.Unknown(text=str(part.get("type"))))
    return made


def _text(parts: list[Any]) -> str:
    from astrbot.core.message.components import Plain

    return "".join(part.text for part in parts if isinstance(part, Plain))


async def of_context(runtime: Runtime, context: dict[str, Any]) -> Any:
    """An event for a call that no message is at hand for: the session and user of the call."""
    user = context.get("user") or {}
    message = {"session": context["session"], "sender": user, "text": ""}
    return await build(runtime, f"call-{id(context)}", message, {"role": user.get("role")})
