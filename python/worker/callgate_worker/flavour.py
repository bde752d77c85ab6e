"""What a flavour of plugins is to the worker: how its plugins load, and the steps it answers."""

import importlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

Step = Callable[..., Awaitable[Any] | AsyncIterator[Any]]


@dataclass
class Source:
    """One plugin to load."""

    path: Path
    id: str | None
    data: Path
    """The folder of this plugin's own files, made before it is loaded."""
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class MethodSpec:
    """A method as the gate will describe it."""

    name: str
    aliases: list[str] = field(default_factory=list)
    title: str = ""
    description: str = ""
    doc: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON Schema of an object; the order of its properties is the order of the parameters."""
    returns: str = "Any"
    kind: Literal["tool", "agent", "behavior", "multimodal_agent"] = "tool"
    effect: Literal["pure", "idempotent", "effectful"] = "effectful"
    exposure: dict[str, bool] = field(default_factory=dict)
    """`code`, `tool_calls`, `remote`, `plugins`; what is left out is as for any AI method."""
    deadline: float | None = None
    """Seconds."""
    binding: Literal["strict", "loose"] = "strict"


@dataclass
class Loaded:
    """What a plugin turned out to be."""

    id: str
    name: str = ""
    version: str = ""
    author: str = ""
    description: str = ""
    methods: list[MethodSpec] = field(default_factory=list)
    commands: list[dict[str, Any]] = field(default_factory=list)
    hooks: list[str] = field(default_factory=list)
    config: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    """What only this flavour has, for its own tools."""

    def describe(self) -> dict[str, Any]:
        return asdict(self)


class Flavour(Protocol):
    name: str
    steps: dict[str, Step]
    """By name: a coroutine function, or an async generator function for a step with many answers.
    Steps are called with the frame's arguments as keywords."""

    # Optional: `def web(plugin: str) -> ASGI application | None`, rooted at `/`.

    async def load(self, source: Source) -> Loaded:
        """Imports the plugin and runs what it does at start. Whatever it raises is the reason."""
        ...

    async def unload(self, plugin: str) -> None: ...


def find(name: str) -> Flavour:
    """The flavour `name` of ours, or a module given in full."""
    module = name if "." in name else f"callgate_worker.flavours.{name}"
    return importlib.import_module(module).FLAVOUR
