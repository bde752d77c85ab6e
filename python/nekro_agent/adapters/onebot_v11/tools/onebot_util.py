"""Facts about OneBot events and people."""

from typing import Any

from nekro_agent.adapters.onebot_v11.core.bot import get_bot
from nekro_agent.schemas.chat_message import ChatType


async def get_chat_info(event: Any) -> tuple[str, ChatType]:
    """The chat key and type of an event."""
    number = getattr(event, "group_id", None)
    if number is not None:
        return f"onebot_v11-group_{number}", ChatType.GROUP
    return f"onebot_v11-private_{event.user_id}", ChatType.PRIVATE


async def get_chat_info_old(event: Any) -> tuple[str, ChatType]:
    return await get_chat_info(event)


async def get_user_name(
    event: Any = None, bot: Any = None, user_id: int | str | None = None, group_id: Any = None, **_: Any
) -> str:
    bot = bot or get_bot()
    info = await bot.get_stranger_info(user_id=int(user_id or event.user_id))
    return info.get("nickname") or str(user_id)
