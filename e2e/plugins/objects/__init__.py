"""What a method may give back: data of every type, objects as records or opaque."""

import collections
import datetime
import decimal
import os
import pathlib
import socket
import uuid
from dataclasses import dataclass
from typing import Any, Dict, List

from nekro_agent.api.plugin import NekroPlugin, SandboxMethodType
from nekro_agent.api.schemas import AgentCtx
from pydantic import BaseModel

plugin = NekroPlugin(
    name="Objects",
    module_name="objects",
    description="What can cross to the sandbox",
    version="1.0.0",
    author="callgate",
    url="https://example.invalid/callgate",
)


@dataclass
class Point:
    x: int
    y: int


class Forecast(BaseModel):
    city: str
    degrees: List[int]


class Own:
    """Known to this plugin alone."""

    def __init__(self) -> None:
        self.secret = "no"
        self.size = 3


class Vault:
    """Keeps what it holds to itself."""

    def __init__(self) -> None:
        self._token = "no"


class Slotted:
    __slots__ = ("x",)

    def __init__(self) -> None:
        self.x = 1


class Failed(Exception):
    """Holds its words where no attribute shows them."""


Pair = collections.namedtuple("Pair", "left right")

PLAIN: Dict[str, Any] = {
    "str": "text",
    "int": 2**80,
    "float": 1.5,
    "bool": True,
    "none": None,
    "list": [1, [2]],
    "tuple": (1, 2),
    "set": {1, 2},
    "bytes": b"\x00\xff",
    "dict": {1: "one", (2, 3): "two"},
    "datetime": datetime.datetime(2026, 1, 2, 3, 4, 5),
    "date": datetime.date(2026, 1, 2),
    "timedelta": datetime.timedelta(days=1, seconds=2),
    "path": pathlib.PurePosixPath("/a/b"),
    "decimal": decimal.Decimal("1.10"),
    "uuid": uuid.UUID(int=7),
}


def _array() -> Any:
    import numpy

    return {"grid": numpy.arange(6).reshape(2, 3), "mean": numpy.float64(2.5)}


def _picture() -> Any:
    from PIL import Image

    return Image.new("RGB", (4, 3), "red")


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "plain")
async def plain(_ctx: AgentCtx, kind: str) -> Any:
    """Give plain data of a type.

    Args:
        kind (str): Which.

    Returns:
        Any: The value.
    """
    return PLAIN[kind]


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "made")
async def made(_ctx: AgentCtx, kind: str) -> Any:
    """Give an object of a class.

    Args:
        kind (str): Which.

    Returns:
        Any: The object.
    """
    objects = {
        "dataclass": lambda: Point(1, 2),
        "model": lambda: Forecast(city="Rome", degrees=[20, 21]),
        "namedtuple": lambda: Pair("a", [1]),
        "own": Own,
        "counter": lambda: collections.Counter("abca"),
        "array": _array,
        "picture": _picture,
        "socket": lambda: {"items": [socket.socket()]},
        "private": lambda: {"items": [1, 2, 3, Vault()]},
        "slots": lambda: Pair(1, Slotted()),
        "native": lambda: [Failed("why")],
    }
    return objects[kind]()


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "given")
async def given(_ctx: AgentCtx, value: Any) -> str:
    """Tell what arrived.

    Args:
        value (Any): Anything.

    Returns:
        str: Its type and its text.
    """
    return f"{type(value).__name__} {value!r}"


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "process")
async def process(_ctx: AgentCtx) -> int:
    """Tell which process this runs in.

    Returns:
        int: Its number.
    """
    return os.getpid()


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "fail")
async def fail(_ctx: AgentCtx, text: str) -> str:
    """Raise an exception.

    Args:
        text (str): Its text.

    Returns:
        str: Never.
    """
    raise ValueError(text) if text else ValueError


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "shared_text")
async def shared_text(_ctx: AgentCtx, path: str) -> str:
    """Read a file that code in the sandbox has written.

    Args:
        path (str): As the code names it.

    Returns:
        str: Whether its path here is another, and its text.
    """
    here = _ctx.fs.get_file(path)
    return f"{str(here) != path} {pathlib.Path(here).read_text()}"


@plugin.mount_sandbox_method(SandboxMethodType.TOOL, "keep")
async def keep(_ctx: AgentCtx, chat: str, name: str, value: str) -> str:
    """Keep a text for a chat, and tell what is kept for this one.

    Args:
        chat (str): Which chat.
        name (str): Under which name.
        value (str): The text.

    Returns:
        str: What this chat has under that name.
    """
    await plugin.store.set(chat_key=chat, store_key=name, value=value)
    return str(await plugin.store.get(chat_key=_ctx.from_chat_key, store_key=name))
