"""What happens in a OneBot chat and is no message: matchers of nonebot hear of it, and a poke is a message to Nekro's own
hooks."""

from typing import Any

from callgate_worker.flavours.nekro import hooks, matchers
from nekro_agent import chat_keys, platforms
from nekro_agent.schemas.agent_ctx import AgentCtx
from nekro_agent.schemas.chat_message import ChatMessageSegmentPoke, ChatMessageSegmentType


async def notice(context: dict[str, Any], message: dict[str, Any], raw: dict[str, Any], **_: Any) -> None:
    platforms.met(chat_keys.platform_of(context["chat_key"]), message.get("self_id"))
    await matchers.hear_notice(context, raw)
    if raw.get("sub_type") == "poke":
        await _poked(context, message, raw)


async def _poked(context: dict[str, Any], message: dict[str, Any], raw: dict[str, Any]) -> None:
    """Compat(nekro): a poke stands among a message's segments. It is in no log, so that what hooks signal has no
    effect on a turn."""
    target = str(raw.get("target_id") or "")
    style = str(raw.get("action") or "戳一戳")
    given = hooks.chat_message(context, {**message, "id": "", "to_me": target == str(raw.get("self_id")), "text": ""})
    poke = ChatMessageSegmentPoke(
        type=ChatMessageSegmentType.POKE,
        text=style,
        poke_style=style,
        poke_style_suffix=str(raw.get("suffix") or ""),
        action_img_url=str(raw.get("action_img_url") or ""),
        target_id=target,
    )
    given.content_data, given.content_text = [poke], style
    await hooks.user_message(context, AgentCtx.of_context(context), given)
