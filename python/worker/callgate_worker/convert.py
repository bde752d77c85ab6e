"""Values into the types that a function is annotated with, and back into plain data.

JSON knows neither dates nor enumerations nor classes; a plugin's function is given what its author
wrote down. A value that does not fit is refused with its place.
"""

import dataclasses
import datetime
import decimal
import enum
import pathlib
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any

from callgate_worker import signature

_FROM_TEXT: dict[type, Callable[[str], Any]] = {
    datetime.datetime: datetime.datetime.fromisoformat,
    datetime.date: datetime.date.fromisoformat,
    datetime.time: datetime.time.fromisoformat,
    uuid.UUID: uuid.UUID,
    pathlib.Path: pathlib.Path,
    decimal.Decimal: decimal.Decimal,
}


_AS_THEY_ARE = frozenset((str, int, float, bool, bytes))


def convert(value: Any, hint: Any, place: str) -> Any:
    """`value` as `hint` wants it. An annotation it does not know takes the value as it is."""
    if type(value) is hint and hint in _AS_THEY_ARE:
        return value
    if hint is None or hint is type(None):
        return _only(value is None, value, "None", place)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return convert(value, arguments[0], place)
    if origin in (typing.Union, types.UnionType):
        return _union(value, arguments, place)
    if origin is typing.Literal:
        return _only(value in arguments, value, f"one of {', '.join(map(repr, arguments))}", place)
    kind = origin or hint
    return _instance(value, kind, arguments, place) if isinstance(kind, type) else value


def _union(value: Any, options: tuple[Any, ...], place: str) -> Any:
    if value is None and type(None) in options:
        return None
    # A value that is already of one of the types stays what it is.
    if any(isinstance(option, type) and type(value) is option for option in options):
        return value
    problem: ValueError | None = None
    for option in options:
        if option is type(None):
            continue
        try:
            return convert(value, option, place)
        except ValueError as error:
            problem = problem or error
    raise problem or ValueError(f"{place}: {value!r} does not fit")


def _instance(value: Any, kind: type, arguments: tuple[Any, ...], place: str) -> Any:
    if kind is bool:
        return _only(isinstance(value, bool), value, "True or False", place)
    if kind is int:
        whole = isinstance(value, float) and value.is_integer()
        fits = whole or isinstance(value, int) and not isinstance(value, bool)
        return int(_only(fits, value, "a whole number", place))
    if kind is float:
        fits = isinstance(value, (int, float)) and not isinstance(value, bool)
        return float(_only(fits, value, "a number", place))
    if kind is str:
        return _only(isinstance(value, str), value, "a text", place)
    if kind in _FROM_TEXT:
        return _from_text(value, kind, place)
    if issubclass(kind, enum.Enum):
        return _member(value, kind, place)
    if dataclasses.is_dataclass(kind):
        return _record(value, kind, place)
    if kind in (list, set, frozenset, tuple) and isinstance(value, (list, tuple, set, frozenset)):
        return _items(value, kind, arguments, place)
    if kind is dict and isinstance(value, dict) and len(arguments) == 2:
        inner = arguments[1]
        return {key: convert(item, inner, f"{place}.{key}") for key, item in value.items()}
    if kind in (list, set, frozenset, tuple, dict):
        return _only(isinstance(value, kind), value, f"a {kind.__name__}", place)
    return value


def _only(fits: bool, value: Any, wanted: str, place: str) -> Any:
    if not fits:
        raise ValueError(f"{place}: {value!r} is not {wanted}")
    return value


def _from_text(value: Any, kind: type, place: str) -> Any:
    if isinstance(value, kind):
        return value
    text: Any = str(value) if isinstance(value, (int, float)) and kind is decimal.Decimal else value
    _only(isinstance(text, str), value, f"a {kind.__name__}", place)
    try:
        return _FROM_TEXT[kind](text)
    except (ValueError, ArithmeticError):
        raise ValueError(f"{place}: {value!r} is not a {kind.__name__}") from None


def _member(value: Any, kind: type[enum.Enum], place: str) -> Any:
    try:
        return value if isinstance(value, kind) else kind(value)
    except ValueError:
        known = ", ".join(repr(member.value) for member in kind)
        raise ValueError(f"{place}: {value!r} is not one of {known}") from None


def _record(value: Any, kind: Any, place: str) -> Any:
    if isinstance(value, kind):
        return value
    _only(isinstance(value, dict), value, f"a {kind.__name__}", place)
    hints = signature.annotations(kind)
    names = {field.name for field in dataclasses.fields(kind) if field.init}
    unknown = next((name for name in value if name not in names), None)
    if unknown is not None:
        raise ValueError(f"{place}: {kind.__name__} has no '{unknown}'")
    fields = {
        name: convert(item, hints.get(name, Any), f"{place}.{name}") for name, item in value.items()
    }
    try:
        return kind(**fields)
    except TypeError as error:
        raise ValueError(f"{place}: {error}") from None


def _items(value: Any, kind: type, arguments: tuple[Any, ...], place: str) -> Any:
    if kind is tuple and arguments and arguments[-1] is not ...:
        if len(value) != len(arguments):
            raise ValueError(f"{place}: {len(value)} items where {len(arguments)} are wanted")
        inner: list[Any] = list(arguments)
    else:
        inner = [arguments[0] if arguments else Any] * len(value)
    pairs = enumerate(zip(value, inner, strict=True))
    return kind(convert(item, hint, f"{place}[{index}]") for index, (item, hint) in pairs)


def plain(value: Any) -> Any:
    """`value` as JSON data; what has no form there becomes its text."""
    if value is None or isinstance(value, (str, int, float, bool)) and not isinstance(
        value, enum.Enum
    ):
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: plain(getattr(value, field.name)) for field in fields}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)
