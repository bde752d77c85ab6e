"""What all components share.

Compat(astrbot): models of pydantic's v1 API, because plugins rely on its coercion (`Plain(text=3)`,
`At(qq="7").qq == 7`), on silently ignored extra fields and on `.dict()`."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from pydantic.v1 import BaseModel


class ComponentType(str, Enum):
    Plain = "Plain"
    Image = "Image"
    Record = "Record"
    Video = "Video"
    File = "File"
    Face = "Face"
    At = "At"
    Node = "Node"
    Nodes = "Nodes"
    Poke = "Poke"
    Reply = "Reply"
    Forward = "Forward"
    RPS = "RPS"
    Dice = "Dice"
    Shake = "Shake"
    Share = "Share"
    Contact = "Contact"
    Location = "Location"
    Music = "Music"
    Json = "Json"
    Unknown = "Unknown"


class BaseMessageComponent(BaseModel):
    type: ComponentType

    def __init__(self, **fields: Any) -> None:
        # The platform's word for its kind, where `type` is taken; pydantic knows no such fields.
        kind = fields.pop("_type", None)
        super().__init__(**fields)
        if kind is not None:
            vars(self)["_type"] = kind

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, _short(value)

    def toDict(self) -> dict:
        data = {
            ("type" if name == "_type" else name): value
            for name, value in self.__dict__.items()
            if name != "type" and value is not None
        }
        return {"type": self.type.lower(), "data": data}

    async def to_dict(self) -> dict:
        return self.toDict()


def _short(value: Any) -> Any:
    """Keeps base64 bodies out of logs and tracebacks."""
    if not isinstance(value, str):
        return value
    if value.startswith("base64://"):
        return f"base64://<{len(value) - 9} chars>"
    return value if len(value) <= 64 else f"{value[:64]}...<{len(value)} chars>"
