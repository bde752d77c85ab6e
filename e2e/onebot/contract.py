"""What AstrBot makes of OneBot segments: the components that its plugins are written for. Where upstream leaves a segment
out because it cannot build the component, a component in its place is no mistake."""

import itertools
import json
from typing import Any

from .world import Refused, World

Component = tuple[str, dict[str, Any]]

# Upstream fails on these, by a field's name or by what it misses; plugins have never seen them.
FREE = {"Contact", "Music", "Node", "Unknown"}
_SAME = {"image": "Image", "record": "Record", "video": "Video", "share": "Share", "forward": "Forward"}
_EMPTY = {"rps": "RPS", "dice": "Dice", "shake": "Shake"}
_FIELDS = {
    "Image": ("file", "url"), "Record": ("file", "url"), "Video": ("file", "url"), "Forward": ("id",),
    "Share": ("url", "title", "content", "image"),
}  # fmt: skip


def components(parts: list[dict[str, Any]], world: World, group_id: int | None) -> list[Component]:
    """With the fields that are certain; a component may have more."""
    made: list[Component] = []
    for kind, group in itertools.groupby(parts, key=lambda part: part["type"]):
        segments = [part.get("data") or {} for part in group]
        if kind == "text":
            text = "".join(data["text"] for data in segments).strip()
            made += [("Plain", {"text": text})] if text else []
            continue
        for data in segments:
            made += _component(kind, data, world, group_id)
    return made


def _component(kind: str, data: dict[str, Any], world: World, group_id: int | None) -> list[Component]:
    if kind in _SAME:
        name = _SAME[kind]
        return [(name, {field: data.get(field, "") for field in _FIELDS[name]})]
    if kind in _EMPTY:
        return [(_EMPTY[kind], {})]
    match kind:
        case "markdown":
            return [("Plain", {"text": data["content"]})]
        case "face":
            return [("Face", {"id": int(data["id"])})]
        case "poke":
            return [("Poke", {"id": int(data["id"])})]
        case "location":
            return [("Location", {"lat": float(data["lat"]), "lon": float(data["lon"])})]
        case "json":
            return _json(data["data"])
        case "at":
            return [("At", _at(data, world, group_id))]
        case "reply":
            return [("Reply", _reply(data, world))]
        case "file":
            # Without an address it is asked for.
            asked = world.answer("get_group_file_url", {"group_id": group_id or 0, "file_id": data["file_id"]})
            private = world.answer("get_private_file_url", {"file_id": data["file_id"]})
            return [("File", {"name": data["file"], "url": data.get("url") or (asked if group_id else private)["url"]})]
    return []


def _json(data: str) -> list[Component]:
    try:
        return [("Json", {"data": json.loads(data)})]
    except ValueError:
        return []


def _at(data: dict[str, Any], world: World, group_id: int | None) -> dict[str, Any]:
    if data["qq"] == "all":
        return {"qq": "all"}
    user_id = int(data["qq"])
    try:
        member = world.answer("get_group_member_info", {"group_id": group_id, "user_id": user_id})
    except Refused:
        return {"qq": user_id}
    # A name that came along may be used instead.
    return {"qq": user_id} if "name" in data else {"qq": user_id, "name": member["card"] or member["nickname"]}


def _reply(data: dict[str, Any], world: World) -> dict[str, Any]:
    try:
        said = world.answer("get_msg", {"message_id": data["id"]})
    except Refused:
        return {"id": str(data["id"])}
    text = "".join(part["data"]["text"] for part in said["message"] if part["type"] == "text")
    return {
        "id": str(data["id"]), "sender_id": int(said["sender"]["user_id"]), "message_str": text.strip(),
        "sender_nickname": said["sender"]["card"] or said["sender"]["nickname"],
    }  # fmt: skip


def mismatch(expected: list[Component], found: list[Component]) -> str | None:
    """What is wrong first, in words."""
    expected, found = ([one for one in chain if one[0] not in FREE] for chain in (expected, found))
    if [name for name, _ in expected] != [name for name, _ in found]:
        return f"{[name for name, _ in expected]} expected, {[name for name, _ in found]} found"
    for (name, wanted), (_, has) in zip(expected, found, strict=True):
        for field, value in wanted.items():
            if has.get(field) != value:
                return f"{name}.{field}: {value!r} expected, {has.get(field)!r} found"
    return None
