"""One-shot timers: at their time the chat gets a system row and a turn."""

from nekro_agent.services.timer.timer_service import TimerTask, timer_service

__all__ = ["clear_timers", "get_timers", "set_temp_timer", "set_timer"]


async def set_timer(chat_key: str, trigger_time: int, event_desc: str) -> bool:
    """`trigger_time` is seconds since 1970; 0 starts a turn now, a negative one clears all timers."""
    return await timer_service.set_timer(chat_key, trigger_time, event_desc)


async def set_temp_timer(chat_key: str, trigger_time: int, event_desc: str) -> bool:
    """The same; a chat has one of these, and a new one replaces it."""
    return await timer_service.set_timer(chat_key, trigger_time, event_desc, override=True)


async def clear_timers(chat_key: str, temporary: bool | None = None) -> bool:
    return await timer_service.set_timer(chat_key, -1, "", temporary=temporary)


async def get_timers(chat_key: str) -> list[TimerTask]:
    return timer_service.get_timers(chat_key)
