"""What a framework has made of an event, as one line of JSON: the same shape for each of them."""

import json
from typing import Any, TextIO

_APART = ("time", "self_id", "post_type", "sub_type", "user_id", "group_id", "message_id", "sender", "message")


def write(file: TextIO, event: dict[str, Any], parts: list[dict[str, Any]] | None) -> None:
    """`event` with its fields as the framework gives them, `parts` as it has taken the message apart."""
    file.write(json.dumps(record(event, parts), ensure_ascii=False, default=str) + "\n")
    file.flush()


def record(event: dict[str, Any], parts: list[dict[str, Any]] | None) -> dict[str, Any]:
    sender = event.get("sender") or {}
    known = {name: event.get(name) for name in _APART[:7]}
    detail = f"{event['post_type'].removesuffix('_sent')}_type"
    return {
        **known,
        "detail_type": event.get(detail),
        "nickname": sender.get("nickname"),
        "card": sender.get("card"),
        "parts": parts,
        "fields": {name: value for name, value in event.items() if name not in (*_APART, detail)},
    }
