"""Chat keys, `<platform>-<group|private|other>_<id>`: what Nekro calls a session."""

import re

from nekro_agent import platforms

_TYPES = {"group", "private", "other"}
_UNSAFE = re.compile(r"[^a-zA-Z0-9_.-]")


def platform_of(chat_key: str) -> str:
    """As the operator named it."""
    return chat_key.partition("-")[0]


def adapter_of(chat_key: str) -> str:
    """By which plugins know the platform."""
    return platforms.adapter_key(platform_of(chat_key))


def channel_of(chat_key: str) -> str:
    """What follows the platform: `group_123`. Compat(nekro): this is the channel's id."""
    return chat_key.partition("-")[2]


def type_of(chat_key: str) -> str:
    kind = channel_of(chat_key).partition("_")[0]
    return kind if kind in _TYPES else "unknown"


def as_file_name(chat_key: str) -> str:
    return _UNSAFE.sub("_", chat_key)


def container_of(chat_key: str) -> str:
    """Compat(nekro): the name of a chat's sandbox, with which plugins ask for its shared folder."""
    return f"sandbox_{as_file_name(chat_key)}"
