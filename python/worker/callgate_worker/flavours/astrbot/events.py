"""Events from what the host says of a message."""

from __future__ import annotations

from typing import Any

from callgate_worker.flavours.astrbot.runtime import Runtime


def build(runtime: Runtime, ref: str, message: dict[str, Any], facts: dict[str, Any]) -> Any:
    from astrbot.core.platform.astrbot_message import AstrBotMessage, Group, MessageMember
    from astrbot.core.platform.elsewhere import RawMessage
    from astrbot.core.platform.message_type import MessageType

    platform_id, kind, session = message["session"].split(":", 2)
    arrived = AstrBotMessage()
    arrived.type = MessageType(kind)
    arrived.self_id = str(message.get("self_id") or platform_id)
    arrived.session_id = session
    arrived.message_id = str(message.get("id") or ref)
    sender = message.get("sender") or {}
    arrived.sender = MessageMember(str(sender.get("id") or ""), sender.get("nickname") or sender.get("name"))
    arrived.message = components(
        message.get("parts") or [{"type": "text", "text": message.get("text") or ""}]
    )
    arrived.message_str = message.get("text") or _text(arrived.message)
    arrived.raw_message = RawMessage(facts.get("platform") or platform_id)
    if message.get("time"):
        arrived.timestamp = int(message["time"])
    group = message.get("group")
    if group is None and arrived.type == MessageType.GROUP_MESSAGE:
        group = {"id": session}
    if group:
        arrived.group = Group(str(group["id"]), group.get("name"))
    platform = runtime.context.platform_manager.get(platform_id, facts.get("platform") or platform_id)
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
    event.callgate_ref = ref
    event.set_extra("callgate_row", facts.get("row"))
    # By name, chance or another rule of the session: the model answers, though no command is meant.
    event.set_extra("callgate_wanted", bool(facts.get("wanted")))
    # A command of the host's own: it is answered, and handlers of that name run as well.
    event._has_send_oper = bool(facts.get("obeyed"))
    return event


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


def of_context(runtime: Runtime, context: dict[str, Any]) -> Any:
    """An event for a call that no message is at hand for: the session and user of the call."""
    user = context.get("user") or {}
    message = {"session": context["session"], "sender": user, "text": ""}
    return build(runtime, f"call-{id(context)}", message, {"role": user.get("role")})
