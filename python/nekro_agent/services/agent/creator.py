"""Messages for a model, built piece by piece."""

import base64
from pathlib import Path
from typing import Any, Literal

from nekro_agent.tools.common_util import _suffix

Role = Literal["user", "assistant", "system"]
Segment = dict[str, Any]


class ContentSegment:
    """Pieces of a message."""

    @staticmethod
    def text_content(text: str) -> Segment:
        return {"type": "text", "text": text}

    @staticmethod
    def image_content(image_url: str) -> Segment:
        return {"type": "image_url", "image_url": {"url": image_url}}

    @staticmethod
    def image_content_from_bytes(image_bytes: bytes, image_type: str) -> Segment:
        encoded = base64.b64encode(image_bytes).decode()
        return ContentSegment.image_content(f"data:image/{image_type};base64,{encoded}")

    @staticmethod
    def image_content_from_path(image_path: str | Path) -> Segment:
        if isinstance(image_path, str) and image_path.startswith("data:"):
            return ContentSegment.image_content(image_path)
        data = Path(image_path).read_bytes()
        # Compat(nekro): an animation is shown by its first picture, which models take as PNG.
        kind = _suffix(data).lstrip(".").replace("gif", "png") or "png"
        return ContentSegment.image_content_from_bytes(data, kind)


class OpenAIChatMessage:
    def __init__(self, role: Role, content: list[Segment]) -> None:
        self.role: Role = role
        self.content = content

    @classmethod
    def from_text(cls, role: Role, text: str) -> "OpenAIChatMessage":
        return cls(role, [ContentSegment.text_content(text)])

    @classmethod
    def from_template(cls, role: Role, template: Any, env: Any = None) -> "OpenAIChatMessage":
        """From an object with `render(env)`."""
        return cls.from_text(role, template.render(env))

    @classmethod
    def create_empty(cls, role: Role) -> "OpenAIChatMessage":
        return cls(role, [])

    def add(self, segment: Segment) -> "OpenAIChatMessage":
        self.content.append(segment)
        return self

    def batch_add(self, segments: list[Segment]) -> "OpenAIChatMessage":
        self.content.extend(segments)
        return self

    def extend(self, other: "OpenAIChatMessage") -> "OpenAIChatMessage":
        if self.role != other.role:
            raise ValueError(f"a message of {self.role} cannot be joined with one of {other.role}")
        theirs = other.content
        if isinstance(theirs, str):
            theirs = [ContentSegment.text_content(theirs)]
        return OpenAIChatMessage(self.role, self.content + theirs)

    def tidy(self) -> "OpenAIChatMessage":
        """Neighbouring texts become one."""
        joined: list[Segment] = []
        for segment in self.content:
            if joined and segment["type"] == joined[-1]["type"] == "text":
                joined[-1] = ContentSegment.text_content(joined[-1]["text"] + segment["text"])
            else:
                joined.append(segment)
        return OpenAIChatMessage(self.role, joined)

    def to_dict(self) -> dict[str, Any]:
        """As the API wants it; texts alone are one string."""
        joined = self.tidy().content
        if all(segment["type"] == "text" for segment in joined):
            return {"role": self.role, "content": "".join(segment["text"] for segment in joined)}
        return {"role": self.role, "content": joined}
