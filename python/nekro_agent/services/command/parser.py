"""From `/name` followed by text to the arguments of a function: `key:value` pairs and positions."""

import inspect
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from types import UnionType

from nekro_agent import texts
from nekro_agent.schemas.i18n import SupportedLang, say
from nekro_agent.services.command.schemas import _UNSET, Arg

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_TRUE = ("true", "1", "yes", "on")
_KIND = inspect.Parameter


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: Any
    arg: Arg
    default: Any

    @property
    def is_required(self) -> bool:
        return self.default is _UNSET

    def read(self, text: str) -> Any:
        """The value that `text` stands for. Raises ValueError with what is wrong with it."""
        kind = self.kind
        if kind is bool:
            return text.lower() in _TRUE
        if kind in (int, float):
            return self._number(text, kind)
        choices = self.arg.choices or (list(get_args(kind)) if get_origin(kind) is Literal else None)
        if choices and text not in choices:
            raise ValueError(say(texts.ARGUMENT_NOT_A_CHOICE, name=self.name, choices=choices))
        return text

    def _number(self, text: str, kind: type) -> Any:
        try:
            number = kind(text)
        except ValueError:
            wrong = texts.ARGUMENT_NOT_WHOLE if kind is int else texts.ARGUMENT_NOT_NUMBER
            raise ValueError(say(wrong, name=self.name)) from None
        low, high = self.arg.range or (number, number)
        if not low <= number <= high:
            raise ValueError(say(texts.ARGUMENT_OUT_OF_RANGE, name=self.name, low=low, high=high))
        return number


class ArgumentParser:
    @classmethod
    def parse(
        cls, func: Callable[..., Any], raw_args: str, *, lang: SupportedLang = SupportedLang.ZH_CN
    ) -> dict[str, Any]:
        found = parameters(func)
        text = raw_args.strip()
        # Compat(nekro): a lone positional argument takes the text as it stands, quotes and all.
        if text and len(found) == 1 and (found[0].arg.greedy or found[0].arg.positional):
            return {found[0].name: found[0].read(text)}
        given = _given(found, text)
        for parameter in found:
            if parameter.name in given:
                continue
            if parameter.is_required:
                described = f" ({parameter.arg.description})" if parameter.arg.description else ""
                raise ValueError(say(texts.ARGUMENT_MISSING, name=parameter.name + described))
            given[parameter.name] = parameter.default
        return given

    @classmethod
    def extract_params_schema(cls, func: Callable[..., Any]) -> dict[str, Any] | None:
        """The arguments as a JSON Schema; None where there are none."""
        found = parameters(func)
        if not found:
            return None
        schema: dict[str, Any] = {"type": "object", "properties": {it.name: _schema(it) for it in found}}
        required = [parameter.name for parameter in found if parameter.is_required]
        return {**schema, "required": required} if required else schema


def parameters(func: Callable[..., Any]) -> list[Parameter]:
    """All parameters but the context, which is the first."""
    try:
        hints = get_type_hints(func, include_extras=True)
    except Exception:  # An annotation may name anything, also what is not there.
        hints = {}
    signature = list(inspect.signature(func).parameters.values())
    given = [it for it in signature if it.name != "self"][1:]
    return [
        _parameter(it, hints.get(it.name, str))
        for it in given
        if it.kind not in (_KIND.VAR_POSITIONAL, _KIND.VAR_KEYWORD)
    ]


def _parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    arg = None
    if get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
        arg = next((mark for mark in marks if isinstance(mark, Arg)), None)
    default = _UNSET if parameter.default is _KIND.empty else parameter.default
    if isinstance(default, Arg):
        arg, default = default, default.default
    elif default is _UNSET and arg is not None:
        default = arg.default
    if get_origin(hint) in (Union, UnionType):
        hint = next((option for option in get_args(hint) if option is not type(None)), str)
    return Parameter(parameter.name, hint, arg or Arg(), default)


def _given(found: list[Parameter], text: str) -> dict[str, Any]:
    by_name = {parameter.name: parameter for parameter in found}
    greedy = next((parameter for parameter in found if parameter.arg.greedy), None)
    named: dict[str, str] = {}
    loose: list[str] = []
    tokens = _tokens(text)
    for index, token in enumerate(tokens):
        key, colon, value = token.partition(":")
        if colon and key in by_name:
            named[key] = _unquoted(value)
        # Compat(nekro): the greedy argument takes everything from the first loose word on, also
        # what an argument in front of it might have wanted.
        elif greedy and greedy.name not in named and not (colon and key.isidentifier()):
            named[greedy.name] = " ".join(tokens[index:])
            break
        else:
            loose.append(token)
    free = (it for it in found if it.arg.positional and it.name not in named)
    named |= {parameter.name: token for parameter, token in zip(free, loose, strict=False)}
    return {name: by_name[name].read(value) for name, value in named.items()}


def _tokens(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _unquoted(value: str) -> str:
    is_quoted = len(value) >= 2 and value[0] in "\"'" and value[-1] == value[0]
    return value[1:-1] if is_quoted else value


def _schema(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _TYPES.get(parameter.kind, "string")}
    if parameter.arg.description:
        schema["description"] = parameter.arg.description
    if parameter.arg.choices:
        schema["enum"] = parameter.arg.choices
    if not parameter.is_required:
        schema["default"] = parameter.default
    return schema
