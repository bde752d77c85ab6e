"""Between the host's message parts and Nekro's segments."""

from pathlib import PurePosixPath
from typing import Any

from nekro_agent import folders, texts
from nekro_agent.schemas.agent_message import AgentMessageSegment, AgentMessageSegmentType

_MEDIA = {"image": "image", "audio": "voice", "video": "video", "file": "file"}


def to_segments(parts: list[dict[str, Any]], chat_key: str) -> list[dict[str, Any]]:
    """What arrived, as Nekro describes it. A segment of Nekro's own passes as it is."""
    return [_segment(part, chat_key) for part in parts]


def _segment(part: dict[str, Any], chat_key: str) -> dict[str, Any]:
    kind = part["type"]
    if kind == "text" or "file_name" in part or "target_platform_userid" in part:
        return part
    if kind == "mention":
        name = part.get("name") or part["id"]
        return {
            "type": "at", "text": f"@{name}",
            "target_platform_userid": part["id"], "target_nickname": name,
        }
    if kind == "reply":
        return {"type": "reference", "text": part.get("text") or f"[reply to {part['to']}]"}
    if kind not in _MEDIA:
        return {"type": "text", "text": part.get("text") or f"[{kind}]"}
    return _file_segment(part, _MEDIA[kind], chat_key)


def _file_segment(part: dict[str, Any], kind: str, chat_key: str) -> dict[str, Any]:
    url = part["url"]
    name = part.get("name") or ("" if url.startswith("data:") else PurePosixPath(url).name) or kind
    segment: dict[str, Any] = {"type": kind, "text": f"[{kind.capitalize()}: {name}]", "file_name": name}
    if url.startswith("/app/"):
        try:
            segment["local_path"] = str(folders.to_host(url, chat_key))
        except ValueError:
            pass
    else:
        segment["remote_url"] = url
    return segment


def from_segments(segments: list[AgentMessageSegment], chat_key: str) -> list[dict[str, Any]]:
    """What a plugin sends, as the host sends it."""
    return [_part(segment, chat_key) for segment in segments]


def _part(segment: AgentMessageSegment, chat_key: str) -> dict[str, Any]:
    if segment.type == AgentMessageSegmentType.TEXT:
        return {"type": "text", "text": segment.content}
    return media(str(segment.content), chat_key, as_image=segment.type == AgentMessageSegmentType.IMAGE)


def media(path: str, chat_key: str, *, as_image: bool) -> dict[str, Any]:
    """An image or file by sandbox path, URL, or host path of a file of the plugin's own.

    Compat(nekro): one that is not there is told in the chat, and the plugin goes on.
    """
    url, name = path, PurePosixPath(path).name
    if not path.startswith(("http://", "https://", "data:")):
        try:
            url = folders.forward(path, chat_key)
        except (OSError, ValueError) as error:
            return {"type": "text", "text": texts.FILE_NOT_SENT.format(path=path, reason=error)}
    elif path.startswith("data:"):
        name = "file"
    return {"type": "image", "url": url} if as_image else {"type": "file", "name": name, "url": url}
