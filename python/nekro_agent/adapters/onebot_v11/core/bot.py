"""The connected OneBot V11 bot."""

from typing import Any

from nekro_agent import texts


def get_bot() -> Any:
    """Raises where none is connected."""
    try:
        from nonebot import get_bots
        from nonebot.adapters.onebot.v11 import Bot

        bots = [bot for bot in get_bots().values() if isinstance(bot, Bot)]
    except (ImportError, ValueError):
        bots = []
    if not bots:
        raise RuntimeError(texts.NO_ONEBOT)
    return bots[0]
