"""A call as sandbox code makes it."""

from typing import Any

from pydantic import BaseModel


class RPCRequest(BaseModel):
    method: str
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
