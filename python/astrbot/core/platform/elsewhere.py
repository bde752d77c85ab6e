"""What messages and events have on some platforms only: on the others it is not there, and says so when used.

Compat(astrbot): plugins find out where they are by `hasattr(event, "bot")`, `isinstance` and what `raw_message` holds.
Those that ask take their other way; those that do not are told what is missing, and not only that something is."""

from __future__ import annotations

from typing import Any, NoReturn

_CLIENTS = {"bot", "client"}


def refuse(owner: object, name: str, platform: str) -> NoReturn:
    """An attribute is not there, so that `hasattr` is false; for a platform's own client the error says why."""
    if name not in _CLIENTS:
        raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")
    raise AttributeError(
        f"there is no `{name}` here: it is the client of a platform such as OneBot (aiocqhttp), and this is {platform};"
        f' a plugin asks first, by hasattr(event, "{name}")'
    )


class RawMessage(dict):
    """The message in a platform's own words, where it has none: empty, and false."""

    def __init__(self, platform: str) -> None:
        super().__init__()
        self._platform = platform

    def __missing__(self, key: object) -> NoReturn:
        raise KeyError(self._missing(key))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(self._missing(name))

    def _missing(self, name: object) -> str:
        return (
            f"raw_message has no {name!r}: those are words of a platform such as OneBot (aiocqhttp), and this is"
            f" {self._platform}; a plugin asks first, by raw_message.get({name!r})"
        )
