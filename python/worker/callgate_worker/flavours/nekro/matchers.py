"""Matchers of nonebot, which some plugins use beside Nekro's own hooks: a message of the host becomes a
OneBot event for them, and what they send is a message of the host's. Asked only where nonebot is loaded.
"""

import sys
import zlib
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

from callgate_worker import host
from nekro_agent import chat_keys, parts, platforms
from nekro_agent.adapters.onebot_v11.core.bot import call
from nekro_agent.core.logger import logger

from callgate_worker.flavours.nekro import nonebots

_SELF = 10_000
_chat: ContextVar[str] = ContextVar("chat", default="")
_handled: ContextVar[list[bool] | None] = ContextVar("handled", default=None)
_bot: Any = None


def known() -> set[Any]:
    """All matchers there are."""
    module = sys.modules.get("nonebot.matcher")
    return {it for listed in module.matchers.values() for it in listed} if module else set()


def forget(matchers: Iterable[Any]) -> None:
    for matcher in matchers:
        matcher.destroy()


async def hear(context: dict[str, Any], message: dict[str, Any]) -> bool:
    """Whether a matcher that lets nobody else have the message has taken it."""
    return bool(known()) and await _handled_by_matchers(context, _event(context, message))


async def hear_notice(context: dict[str, Any], raw: dict[str, Any]) -> None:
    """`on_notice` and `on_request` hear of it, as the platform told it."""
    if not known():
        return
    from nonebot.adapters.onebot.v11 import Adapter

    if (event := Adapter.json_to_event(raw)) is not None:
        await _handled_by_matchers(context, event)


async def _handled_by_matchers(context: dict[str, Any], event: Any) -> bool:
    from nonebot.message import handle_event

    _chat.set(context["chat_key"])
    handled: list[bool] = []
    _handled.set(handled)
    try:
        await handle_event(_host_bot(), event)
    except Exception as error:
        logger.opt(exception=error).error(f"a nonebot matcher failed: {error!r}")
    return any(handled)


def _host_bot() -> Any:
    global _bot
    if _bot is None:
        from nonebot.adapters.onebot.v11 import Bot
        from nonebot.matcher import Matcher
        from nonebot.message import run_preprocessor

        class HostBot(Bot):
            async def call_api(self, api: str, **data: Any) -> Any:
                return await _called(api, data)

        @run_preprocessor
        async def _note(matcher: Matcher) -> None:
            if (handled := _handled.get()) is not None:
                handled.append(matcher.block)

        _bot = HostBot(nonebots.adapter(), str(_SELF))
    return _bot


async def _called(api: str, data: dict[str, Any]) -> Any:
    if (platform := chat_keys.platform_of(_chat.get())) in platforms.of_kind("onebot"):
        return await call(platform, api, data)
    if api in ("send_msg", "send_group_msg", "send_private_msg"):
        kind, number = ("group", data.get("group_id")) if data.get("group_id") else ("private", data.get("user_id"))
        here = _chat.get()
        chat_key = f"{chat_keys.platform_of(here)}-{kind}_{number}"
        if number is None or _number(chat_keys.channel_of(here).partition("_")[2]) == number:
            chat_key = here
        sending = {"session": chat_key, "parts": _parts(data["message"], chat_key), "record": True}
        return {"message_id": await host.call("message_send", **sending, reference=None)}
    if api == "get_login_info":
        return {"user_id": _SELF, "nickname": "bot"}
    from nonebot.adapters.onebot.v11 import ApiNotAvailable

    logger.warning(f"{api} needs the OneBot platform, which is not configured")
    raise ApiNotAvailable


def _parts(message: Any, chat_key: str) -> list[dict[str, Any]]:
    from nonebot.adapters.onebot.v11 import Message

    found = []
    for segment in Message(message):
        if segment.type == "text":
            found.append({"type": "text", "text": segment.data["text"]})
        elif segment.type in ("image", "record", "video", "file"):
            source = str(segment.data.get("file") or segment.data.get("url") or "")
            if source.startswith("base64://"):
                source = f"data:image/png;base64,{source.removeprefix('base64://')}"
            found.append(parts.media(source.removeprefix("file://"), chat_key, as_image=segment.type == "image"))
        elif segment.type == "at":
            found.append({"type": "mention", "id": str(segment.data["qq"])})
    return found


def _event(context: dict[str, Any], message: dict[str, Any]) -> Any:
    from nonebot.adapters.onebot.v11 import GroupMessageEvent, Message, MessageSegment, PrivateMessageEvent

    user = {**(context.get("user") or {}), **(message.get("sender") or {})}
    given = message.get("parts") or [{"type": "text", "text": message.get("text") or ""}]
    content = Message()
    for part in given:
        if part["type"] == "text":
            content += MessageSegment.text(part["text"])
        elif part["type"] == "mention":
            content += MessageSegment.at(part["id"])
        elif part["type"] == "face":
            content += MessageSegment("face", {"id": part["id"]})
        elif part["type"] == "other":
            content += MessageSegment(part["kind"], part["data"])
        elif part["type"] == "image":
            content += MessageSegment("image", {"file": part["url"], "url": part["url"]})
    is_operator = user.get("role") == "operator" or (context.get("user") or {}).get("role") == "operator"
    name = user.get("nickname") or user.get("name") or ""
    role = "owner" if is_operator else "member"
    fields = {
        "time": int(message.get("time") or 0), "self_id": int(message.get("self_id") or _SELF), "post_type": "message", "sub_type": "normal",
        "user_id": _number(user.get("id")), "message_id": _number(message.get("id")), "message": content,
        "original_message": content, "raw_message": str(content), "font": 0, "to_me": bool(message.get("to_me")),
        "sender": {"user_id": _number(user.get("id")), "nickname": name, "card": name, "role": role},
    }
    if chat_keys.type_of(context["chat_key"]) == "group":
        group = _number(chat_keys.channel_of(context["chat_key"]).partition("_")[2])
        return GroupMessageEvent(message_type="group", group_id=group, **fields)
    return PrivateMessageEvent(message_type="private", **{**fields, "sub_type": "friend"})


def _number(text: Any) -> int:
    """OneBot knows people and chats by number alone."""
    word = str(text or "")
    return int(word) if word.isascii() and word.isdigit() else zlib.crc32(word.encode())
