"""Messages as one string with CQ codes, made the way implementations make them."""

import json
from typing import Any

_IN_TEXT = (("&", "&amp;"), ("[", "&#91;"), ("]", "&#93;"))
_IN_VALUE = (*_IN_TEXT, (",", "&#44;"))


def from_segments(segments: list[dict[str, Any]]) -> str:
    return "".join(map(_from_segment, segments))


def _from_segment(segment: dict[str, Any]) -> str:
    data = segment.get("data") or {}
    if segment["type"] == "text":
        return _escape(str(data["text"]), _IN_TEXT)
    values = ((name, _in_words(value)) for name, value in data.items() if value is not None)
    # A value without a word is left out.
    fields = [f"{name}={_escape(words, _IN_VALUE)}" for name, words in values if words]
    return f"[CQ:{','.join([segment['type'], *fields])}]"


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


def _escape(text: str, escapes: tuple[tuple[str, str], ...]) -> str:
    for character, escaped in escapes:
        text = text.replace(character, escaped)
    return text
