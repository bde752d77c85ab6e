"""The persona of chats that have chosen none."""

from nekro_agent.texts import DEFAULT_PRESET_CONTENT, DEFAULT_PRESET_NAME

__all__ = ["DEFAULT_PRESET_CONTENT", "DEFAULT_PRESET_NAME"]
