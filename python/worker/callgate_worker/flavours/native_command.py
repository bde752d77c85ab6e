"""What follows a command, read by the annotations of its function: `/roll 2 6 --label luck --loud`."""

import inspect
import shlex
import types
import typing
from collections.abc import Callable
from typing import Any

from callgate.declare import Command

from callgate_worker import signature
from callgate_worker.flavours import native_texts as texts
from callgate_worker.flavours.native_load import VARIADIC, context_parameter
from callgate_worker.language import say

_YES = {"true", "yes", "on", "1"}
_NO = {"false", "no", "off", "0"}


def arguments(function: Callable[..., Any], text: str) -> dict[str, Any]:
    """Words in the order of the parameters; the last one takes what is left if it is a text."""
    parameters = _parameters(function)
    try:
        words = shlex.split(text)
    except ValueError:
        # An apostrophe is no quotation.
        words = text.split()
    named: dict[str, Any] = {}
    plain: list[str] = []
    while words:
        word = words.pop(0)
        option, equals, value = word.removeprefix("--").partition("=")
        name = option.replace("-", "_")
        if not word.startswith("--") or name not in parameters:
            plain.append(word)
        elif equals:
            named[name] = _read(value, parameters[name], name)
        elif bool in _options(parameters[name]) and not (words and words[0].lower() in _YES | _NO):
            # A flag: to name it is to want it.
            named[name] = True
        elif words:
            named[name] = _read(words.pop(0), parameters[name], name)
        else:
            raise ValueError(say(texts.NO_VALUE, option=option))
    free = [name for name in parameters if name not in named]
    for index, name in enumerate(free):
        if not plain:
            break
        takes_rest = index == len(free) - 1 and str in _options(parameters[name])
        word = " ".join(plain) if takes_rest else plain[0]
        plain = [] if takes_rest else plain[1:]
        named[name] = _read(word, parameters[name], name)
    if plain:
        raise ValueError(say(texts.TOO_MUCH, words=" ".join(plain)))
    required = inspect.signature(function).parameters
    for name in parameters:
        if name not in named and required[name].default is inspect.Parameter.empty:
            raise ValueError(say(texts.MISSING, name=name))
    return named


def usage(command: Command) -> str:
    known = inspect.signature(command.function).parameters
    shown = []
    for name in _parameters(command.function):
        optional = known[name].default is not inspect.Parameter.empty
        shown.append(f"[{name}]" if optional else name)
    return say(texts.USAGE, usage=" ".join([f"/{command.name}", *shown]))


def _parameters(function: Callable[..., Any]) -> dict[str, Any]:
    hints = signature.annotations(function)
    context = context_parameter(function)
    known = inspect.signature(function).parameters.values()
    return {
        it.name: hints.get(it.name, str)
        for it in known
        if it.name != context and it.kind not in VARIADIC
    }


def _options(hint: Any) -> tuple[Any, ...]:
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    return typing.get_args(hint) if union else (hint,)


def _read(word: str, hint: Any, name: str) -> Any:
    """Text into a number or a truth value, where that is asked for."""
    for option in _options(hint):
        if option is bool and word.lower() in _YES | _NO:
            return word.lower() in _YES
        if option in (int, float):
            try:
                return option(word)
            except ValueError:
                continue
        if option not in (int, float, bool, type(None)):
            return word
    raise ValueError(say(texts.UNFIT, name=name, word=word, wanted=signature.shown(hint)))
