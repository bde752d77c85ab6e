"""Older plugins import the bot from here."""

from nekro_agent.adapters.onebot_v11.core.bot import get_bot

__all__ = ["get_bot"]
