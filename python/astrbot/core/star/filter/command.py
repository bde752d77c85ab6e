"""Commands: a name (or alias) and arguments typed by the handler's signature."""

from __future__ import annotations

import inspect
import re
import types
import typing
from typing import Any

from astrbot import texts
from callgate_worker import language

from ..star_handler import StarHandlerMetadata
from . import AstrBotConfig, AstrMessageEvent, HandlerFilter
from .custom_filter import CustomFilter

_TRUE = ("true", "yes", "1")
_FALSE = ("false", "no", "0")


class GreedyStr(str):
    """Annotation of a last parameter that takes all the remaining text."""


def unwrap_optional(annotation: Any) -> tuple:
    return tuple(kind for kind in typing.get_args(annotation) if kind is not type(None))


def _is_union(hint: Any) -> bool:
    return isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union


class CommandFilter(HandlerFilter):
    def __init__(
        self,
        command_name: str,
        alias: set | None = None,
        handler_md: StarHandlerMetadata | None = None,
        parent_command_names: list[str] | None = None,
    ) -> None:
        self.command_name = command_name
        self._original_command_name = command_name
        self.alias = alias or set()
        self.parent_command_names = [""] if parent_command_names is None else parent_command_names
        self.handler_params: dict[str, Any] = {}
        self.custom_filter_list: list[CustomFilter] = []
        self._cmpl_cmd_names: list[str] | None = None
        if handler_md:
            self.init_handler_md(handler_md)

    def init_handler_md(self, handle_md: StarHandlerMetadata) -> None:
        """Reads the parameters after `self` and `event`: a default where there is one, else the annotation."""
        self.handler_md = handle_md
        parameters = _parameters(handle_md.handler)[2:]
        self.handler_params = {
            parameter.name: parameter.annotation
            if parameter.default is inspect.Parameter.empty
            else parameter.default
            for parameter in parameters
        }

    def get_handler_md(self) -> StarHandlerMetadata:
        return self.handler_md

    def print_types(self) -> str:
        shown = []
        for name, hint in self.handler_params.items():
            if isinstance(hint, type):
                shown.append(f"{name}({hint.__name__})")
            elif _is_union(hint):
                shown.append(f"{name}({hint})")
            else:
                shown.append(f"{name}({type(hint).__name__})={hint}")
        return ",".join(shown)

    def add_custom_filter(self, custom_filter: CustomFilter) -> None:
        self.custom_filter_list.append(custom_filter)

    def custom_filter_ok(self, event: AstrMessageEvent, cfg: AstrBotConfig) -> bool:
        return all(one.filter(event, cfg) for one in self.custom_filter_list)

    def get_complete_command_names(self) -> list[str]:
        if self._cmpl_cmd_names is None:
            self._cmpl_cmd_names = [
                f"{parent} {name}" if parent else name
                for name in [self.command_name, *self.alias]
                for parent in self.parent_command_names or [""]
            ]
        return self._cmpl_cmd_names

    def equals(self, message_str: str) -> bool:
        return message_str in self.get_complete_command_names()

    def filter(self, event: AstrMessageEvent, cfg: AstrBotConfig) -> bool:
        if not event.is_at_or_wake_command or not self.custom_filter_ok(event, cfg):
            return False
        text = re.sub(r"\s+", " ", event.get_message_str().strip())
        matched = False
        for name in self.get_complete_command_names():
            if text == name or text.startswith(f"{name} "):
                # Compat(astrbot): no break; an alias may eat a first argument that repeats it.
                matched, text = True, text[len(name) :].strip()
        if not matched:
            return False
        words = [word for word in text.split(" ") if word]
        event.set_extra("parsed_params", self.validate_and_convert_params(words, self.handler_params))
        return True

    def validate_and_convert_params(self, params: list[str], param_type: dict[str, Any]) -> dict[str, Any]:
        converted: dict[str, Any] = {}
        for place, (name, hint) in enumerate(param_type.items()):
            if hint is GreedyStr:
                if place != len(param_type) - 1:
                    raise ValueError(texts.GREEDY_LAST.format(name=name))
                converted[name] = " ".join(params[place:])
            elif place < len(params):
                converted[name] = self._convert(name, hint, params[place])
            elif isinstance(hint, type) or _is_union(hint) or hint is inspect.Parameter.empty:
                raise ValueError(language.say(texts.ARGUMENT_MISSING, types=self.print_types()))
            else:
                converted[name] = hint
        return converted

    def _convert(self, name: str, hint: Any, word: str) -> Any:
        try:
            match hint:
                case None:
                    return int(word) if word.isdigit() else word
                case str():
                    return word
                case bool():
                    return _boolean(name, word)
                case int():
                    return int(word)
                case float():
                    return float(word)
            if _is_union(hint):
                options = unwrap_optional(hint)
                return options[0](word) if len(options) == 1 else word
            # Compat(astrbot): a parameter without annotation and default takes nothing, and says so in Python's words.
            return hint(word)
        except ValueError:
            raise ValueError(language.say(texts.ARGUMENT_TYPE, name=name, types=self.print_types())) from None


def _parameters(function: Any) -> list[inspect.Parameter]:
    """With annotations evaluated; one that only a type checker can resolve counts as text."""
    try:
        return list(inspect.signature(function, eval_str=True).parameters.values())
    except NameError:
        found = inspect.signature(function).parameters.values()
        return [one.replace(annotation=_evaluated(one.annotation, function)) for one in found]


def _evaluated(annotation: Any, function: Any) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, function.__globals__)  # noqa: S307 -- the plugin's own source
    except NameError:
        return str


def _boolean(name: str, word: str) -> bool:
    if word.lower() not in _TRUE + _FALSE:
        raise ValueError(language.say(texts.ARGUMENT_BOOLEAN, name=name))
    return word.lower() in _TRUE
