"""What plugins declare with decorators, kept by plugin until the host asks for it.

A decorator returns the function unchanged: it stays an ordinary function for its author's tests.
"""

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar, overload

Kind = Literal["tool", "agent", "behavior", "multimodal_agent"]
Effect = Literal["pure", "idempotent", "effectful"]
Surface = Literal["code", "tool_calls", "remote", "plugins"]
F = TypeVar("F", bound=Callable[..., Any])
Hook = Callable[..., Any | Awaitable[Any]]


class Signal(Enum):
    """What becomes of a message that a plugin has heard; the strongest answer counts."""

    CONTINUE = "CONTINUE"
    FORCE = "FORCE_TRIGGER"
    """Answered, whatever the rules of the chat say."""
    NO_TURN = "BLOCK_TRIGGER"
    """Kept, but not answered."""
    HIDE = "BLOCK_ALL"
    """Not answered, and the AI never sees it."""


@dataclass(frozen=True)
class Method:
    function: Callable[..., Any]
    name: str
    kind: Kind
    title: str
    effect: Effect
    expose: tuple[Surface, ...] | None
    deadline: float | None


@dataclass(frozen=True)
class Command:
    function: Callable[..., Any]
    name: str
    aliases: tuple[str, ...]
    operator: bool


@dataclass
class Declarations:
    """Of one plugin."""

    plugin: str = ""
    """Its id; empty while no host has loaded it."""
    data: Path | None = None
    """The folder of its own files."""
    methods: list[Method] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    hooks: dict[str, list[Hook]] = field(default_factory=dict)
    config: Any = None


_declared: dict[str, Declarations] = {}


def of(module: str) -> Declarations:
    """The declarations of the plugin that `module` belongs to: its outermost package."""
    return _declared.setdefault(module.partition(".")[0], Declarations())


def of_caller(depth: int = 2) -> Declarations:
    return of(sys._getframe(depth).f_globals.get("__name__", ""))


def forget(module: str) -> None:
    _declared.pop(module.partition(".")[0], None)


@overload
def method(function: F, /) -> F: ...
@overload
def method(
    *,
    kind: Kind = "tool",
    name: str | None = None,
    title: str | None = None,
    effect: Effect = "effectful",
    expose: tuple[Surface, ...] | None = None,
    deadline: float | None = None,
) -> Callable[[F], F]: ...
def method(function: Any = None, /, **declared: Any) -> Any:
    """Makes a function a method.

    Args:
        kind: What the result does. `tool`: the value goes to the caller. `agent`: the text goes to
            the AI, which thinks again at once. `behavior`: the text becomes a note in the chat.
            `multimodal_agent`: message parts, such as pictures, go to the AI at once.
        name: What callers write; the function's name if left out.
        title: What people see.
        effect: May the call be repeated after a crash? `pure` and `idempotent` ones may.
        expose: Who may call it: any of `code`, `tool_calls`, `remote`, `plugins`. AI callers and
            plugins if left out.
        deadline: Seconds the call may take.
    """

    def declare(function: F) -> F:
        name = declared.get("name") or function.__name__
        declared_methods = of(function.__module__).methods
        declared_methods.append(
            Method(
                function=function,
                name=name,
                kind=declared.get("kind", "tool"),
                title=declared.get("title") or name,
                effect=declared.get("effect", "effectful"),
                expose=declared.get("expose"),
                deadline=declared.get("deadline"),
            )
        )
        return function

    return declare if function is None else declare(function)


class _Declare(Protocol):
    """`@tool` as well as `@tool(title=...)`."""

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(
        self,
        *,
        name: str | None = None,
        title: str | None = None,
        effect: Effect = "effectful",
        expose: tuple[Surface, ...] | None = None,
        deadline: float | None = None,
    ) -> Callable[[F], F]: ...


def _of_kind(kind: Kind) -> _Declare:
    def declare(function: Any = None, /, **declared: Any) -> Any:
        declare_it = method(kind=kind, **declared)
        return declare_it if function is None else declare_it(function)

    declare.__name__ = declare.__qualname__ = kind
    declare.__doc__ = f"As `method(kind={kind!r})`."
    return declare


tool = _of_kind("tool")
agent = _of_kind("agent")
behavior = _of_kind("behavior")
multimodal_agent = _of_kind("multimodal_agent")


def command(
    name: str, *, aliases: tuple[str, ...] = (), operator: bool = False
) -> Callable[[F], F]:
    """Makes a function a `/name` command. What follows the name is passed by its annotations.

    The function returns, or yields, texts to answer with. `operator` keeps it from others.
    """

    def declare(function: F) -> F:
        of(function.__module__).commands.append(Command(function, name, aliases, operator))
        return function

    return declare


def _hook(point: str) -> Callable[[F], F]:
    def declare(function: F) -> F:
        of(function.__module__).hooks.setdefault(point, []).append(function)
        return function

    return declare


def on_message(function: F) -> F:
    """Hears every message, as `(context, message)`, before anybody answers; see `Signal`."""
    return _hook("message")(function)


def on_reset(function: F) -> F:
    """Told, as `(context)`, that the conversation of a chat begins anew."""
    return _hook("reset")(function)


def on_timer(function: F) -> F:
    """Told, as `(context, name, data)`, that a timer of `Context.wake` is due."""
    return _hook("timer")(function)


def on_start(function: F) -> F:
    """Called once, with nothing, when the plugin has been loaded."""
    return _hook("start")(function)


def on_stop(function: F) -> F:
    """Called once, with nothing, before the plugin is unloaded."""
    return _hook("stop")(function)


def prompt(function: F) -> F:
    """Adds the text that it returns, asked with `(context)`, to what the AI is told each round."""
    return _hook("prompt")(function)
