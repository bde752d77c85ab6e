"""A Python signature as JSON Schema: what a method takes, in the order it takes it.

Owns the mapping from annotations to schemas, for every flavour. It refuses nothing: an annotation
it cannot read admits any value. Standard library only; pydantic models describe themselves.
"""

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import inspect
import pathlib
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any

from callgate_worker import docstring

Schema = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    pathlib.Path: {"type": "string"},
    pathlib.PurePath: {"type": "string"},
    decimal.Decimal: {"type": ["string", "number"]},
}
_ARRAYS = (
    list, set, frozenset, collections.abc.Sequence, collections.abc.Iterable,
    collections.abc.Set, collections.abc.Collection, collections.abc.MutableSequence,
)
_OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_MAX_DEPTH = 8


def parameters(
    function: Callable[..., Any],
    *,
    skip: collections.abc.Collection[str] = (),
    doc: docstring.Docstring | None = None,
) -> Schema:
    """The schema of an object of `function`'s parameters, described by its docstring."""
    doc = doc or docstring.read(function.__doc__)
    hints = annotations(function)
    properties: dict[str, Schema] = {}
    required: list[str] = []
    rest: bool | Schema = False
    for name, parameter in inspect.signature(function).parameters.items():
        if name in skip:
            continue
        if parameter.kind in _VARIADIC:
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                rest = schema(hints.get(name, Any)) or True
            continue
        described = dict(schema(hints.get(name, Any)))
        told = doc.parameters.get(name)
        if told and told.text:
            described["description"] = told.text
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        elif (default := _data(parameter.default)) is not _NOT_DATA:
            described["default"] = default
        properties[name] = described
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": rest,
    }


def annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations by name, resolved where they can be; one bad one does not spoil the rest."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:  # Whatever evaluating somebody's annotation raises.
        pass
    raw = dict(getattr(inspect.unwrap(function), "__annotations__", {}))
    scope = getattr(inspect.unwrap(function), "__globals__", {})
    return {name: _resolved(hint, scope) for name, hint in raw.items()}


def _resolved(hint: Any, scope: dict[str, Any]) -> Any:
    if not isinstance(hint, str):
        return hint
    try:
        # The plugin's own source, which runs in this process anyhow.
        return eval(hint, scope)  # noqa: S307
    except Exception:
        return Any


def returns(function: Callable[..., Any]) -> str:
    """The annotation of the result as a stub shows it; empty where there is none."""
    raw = inspect.signature(function).return_annotation
    if raw is inspect.Signature.empty:
        return ""
    return shown(annotations(function).get("return", raw))


def shown(hint: Any) -> str:
    """An annotation as somebody would write it."""
    if hint is None or hint is type(None):
        return "None"
    if isinstance(hint, str):
        return hint
    if isinstance(hint, type) and not typing.get_args(hint):
        return hint.__name__
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return shown(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return " | ".join(shown(argument) for argument in arguments)
    if origin is typing.Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if origin is not None and arguments:
        inner = ", ".join("..." if argument is ... else shown(argument) for argument in arguments)
        return f"{getattr(origin, '__name__', str(origin))}[{inner}]"
    return getattr(hint, "__name__", None) or str(hint).removeprefix("typing.")


def schema(hint: Any, depth: int = 0) -> Schema:
    """The JSON Schema of one annotation; empty where any value will do."""
    if depth > _MAX_DEPTH:
        return {}
    try:
        if hint in _PLAIN:
            return dict(_PLAIN[hint])
    except TypeError:  # Unhashable, such as Annotated with a list.
        pass
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _annotated(arguments, depth)
    if origin in (typing.Required, typing.NotRequired, typing.ClassVar, typing.Final):
        return schema(arguments[0], depth) if arguments else {}
    if origin in (typing.Union, types.UnionType):
        return _union([schema(argument, depth + 1) for argument in arguments])
    if origin is typing.Literal:
        return {"enum": [_data(value) for value in arguments]}
    if isinstance(hint, typing.NewType):
        return schema(hint.__supertype__, depth)
    if hasattr(hint, "__value__"):  # `type Name = ...` of Python 3.12.
        return schema(hint.__value__, depth + 1)
    if isinstance(hint, typing.TypeVar):
        return schema(hint.__bound__, depth) if hint.__bound__ else {}
    return _container(origin or hint, arguments, depth) if _is_class(origin or hint) else {}


def _is_class(hint: Any) -> bool:
    return isinstance(hint, type)


def _annotated(arguments: tuple[Any, ...], depth: int) -> Schema:
    """A text beside the type describes the parameter."""
    described = schema(arguments[0], depth)
    texts = [extra for extra in arguments[1:] if isinstance(extra, str)]
    return {**described, "description": texts[0]} if texts else described


def _union(options: list[Schema]) -> Schema:
    if any(not option for option in options):
        return {}
    simple = [option["type"] for option in options if set(option) == {"type"}]
    if len(simple) == len(options) and all(isinstance(name, str) for name in simple):
        return {"type": simple}
    return {"anyOf": options}


def _container(kind: type, arguments: tuple[Any, ...], depth: int) -> Schema:
    if kind is tuple:
        return _tuple(arguments, depth)
    if kind in _ARRAYS:
        items = schema(arguments[0], depth + 1) if arguments else {}
        return {"type": "array", "items": items} if items else {"type": "array"}
    if kind in _OBJECTS:
        values = schema(arguments[1], depth + 1) if len(arguments) == 2 else {}
        # JSON writes every key as text; only text keys can be described.
        plain = not arguments or arguments[0] is str
        return {"type": "object", "additionalProperties": values} if values and plain else {
            "type": "object"
        }
    if issubclass(kind, enum.Enum):
        return {"enum": [_data(member.value) for member in kind]}
    if dataclasses.is_dataclass(kind) or typing.is_typeddict(kind):
        return _record(kind, depth)
    if describe := getattr(kind, "model_json_schema", None):
        return _model(describe)
    return {}


def _tuple(arguments: tuple[Any, ...], depth: int) -> Schema:
    if not arguments:
        return {"type": "array"}
    if len(arguments) == 2 and arguments[1] is ...:
        return {"type": "array", "items": schema(arguments[0], depth + 1)}
    items = [schema(argument, depth + 1) for argument in arguments]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _record(kind: Any, depth: int) -> Schema:
    """A dataclass or a TypedDict, by its fields."""
    title, hints = kind.__name__, annotations(kind)
    if dataclasses.is_dataclass(kind):
        fields = [field for field in dataclasses.fields(kind) if field.init]
        names = [field.name for field in fields]
        missing = dataclasses.MISSING
        required = [
            field.name
            for field in fields
            if field.default is missing and field.default_factory is missing
        ]
    else:
        names = list(hints)
        required = [name for name in names if name in kind.__required_keys__]
    told = docstring.read(kind.__doc__ if names else None).parameters
    properties = {}
    for name in names:
        properties[name] = schema(hints.get(name, Any), depth + 1)
        if name in told and told[name].text:
            properties[name]["description"] = told[name].text
    return {
        "type": "object",
        "title": title,
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _model(describe: Callable[[], Schema]) -> Schema:
    try:
        described = describe()
    except Exception:  # A model that cannot describe itself takes what it takes.
        return {"type": "object"}
    # References point to the root of *its* document, which is not ours.
    return described if "$defs" not in described else {"type": "object"}


_NOT_DATA = object()


def _data(value: Any) -> Any:
    """`value` as JSON writes it, or `_NOT_DATA`."""
    if isinstance(value, enum.Enum):
        return _data(value.value)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple)):
        items = [_data(item) for item in value]
        return _NOT_DATA if _NOT_DATA in items else items
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        fields = {key: _data(item) for key, item in value.items()}
        return _NOT_DATA if _NOT_DATA in fields.values() else fields
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    return _NOT_DATA
