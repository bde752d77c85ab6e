"""In which language we speak to a person: that of the message which is being answered. Decides by what the message
says; knows two languages, and the texts themselves lie with each flavour."""

import re
from collections.abc import Mapping
from contextvars import ContextVar

ENGLISH, CHINESE = "en-US", "zh-CN"

_IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
# Japanese is written with ideographs too.
_KANA = re.compile(r"[\u3041-\u30ff]")

# Each message is dealt with in a task of its own; what that task starts speaks to the same person.
_spoken: ContextVar[str | None] = ContextVar("spoken", default=None)


def of(text: str) -> str:
    return CHINESE if _IDEOGRAPH.search(text) and not _KANA.search(text) else ENGLISH


def answer(message: str) -> None:
    """What this task says from here on answers this message."""
    _spoken.set(of(message))


def say(text: Mapping[str, str], otherwise: str = ENGLISH, **fields: object) -> str:
    """The text in the person's language; `otherwise` is for what answers nobody's message."""
    return text[_spoken.get() or otherwise].format(**fields)
