"""Tools a model may call. Three ways to write one: a `handler`, an overridden `call`, the old `run`."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Any, Generic

import jsonschema
from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass

from .result import CallToolResult
from .run_context import ContextWrapper, TContext

from astrbot import texts

ParametersType = dict[str, Any]
ToolExecResult = str | CallToolResult
_OPEN = ConfigDict(arbitrary_types_allowed=True)
_RIGHT: set[str] = set()
_MANY = 10_000


def _check(parameters: ParametersType) -> None:
    """A check takes milliseconds, and the tools of a turn are wrapped anew for each: what was right stays so."""
    try:
        text = json.dumps(parameters, sort_keys=True)
    except (TypeError, ValueError):
        text = None
    if text in _RIGHT:
        return
    jsonschema.validate(parameters, jsonschema.Draft202012Validator.META_SCHEMA)
    if text is not None:
        if len(_RIGHT) >= _MANY:
            _RIGHT.clear()
        _RIGHT.add(text)


@dataclass(config=_OPEN)
class ToolSchema:
    name: str
    description: str
    parameters: ParametersType

    @model_validator(mode="after")
    def validate_parameters(self):
        _check(self.parameters)
        return self


@dataclass(config=_OPEN)
class FunctionTool(ToolSchema, Generic[TContext]):
    handler: Callable[..., Awaitable[Any] | AsyncGenerator[Any, None]] | None = None
    handler_module_path: str | None = None
    active: bool = True
    is_background_task: bool = False

    def __repr__(self) -> str:
        return f"FuncTool(name={self.name}, parameters={self.parameters}, description={self.description})"

    async def call(self, context: ContextWrapper[TContext], **kwargs: Any) -> ToolExecResult:
        raise NotImplementedError(texts.TOOL_NOT_WRITTEN)


def _nothing() -> ParametersType:
    return {"type": "object", "properties": {}}


@dataclass(config=_OPEN)
class ToolSet:
    tools: list[FunctionTool] = Field(default_factory=list)

    def empty(self) -> bool:
        return not self.tools

    def add_tool(self, tool: FunctionTool) -> None:
        """Of two tools with one name the active one stays; of two alike, the newer."""
        for place, known in enumerate(self.tools):
            if known.name == tool.name:
                if getattr(tool, "active", True) or not getattr(known, "active", True):
                    self.tools[place] = tool
                return
        self.tools.append(tool)

    def remove_tool(self, name: str) -> None:
        self.tools = [tool for tool in self.tools if tool.name != name]

    def get_tool(self, name: str) -> FunctionTool | None:
        return next((tool for tool in self.tools if tool.name == name), None)

    def names(self) -> list[str]:
        return [tool.name for tool in self.tools]

    def merge(self, other: ToolSet) -> None:
        for tool in other.tools:
            self.add_tool(tool)

    def get_light_tool_set(self) -> ToolSet:
        return self._derived(lambda tool: (_nothing(), tool.description))

    def get_param_only_tool_set(self) -> ToolSet:
        return self._derived(lambda tool: (copy.deepcopy(tool.parameters) or _nothing(), ""))

    def _derived(self, shape: Callable[[FunctionTool], tuple[ParametersType, str]]) -> ToolSet:
        derived = ToolSet()
        for tool in self.tools:
            if getattr(tool, "active", True):
                parameters, description = shape(tool)
                derived.tools.append(FunctionTool(tool.name, description, parameters))
        return derived

    @property
    def func_list(self) -> list[FunctionTool]:
        return self.tools

    def add_func(self, name: str, func_args: list, desc: str, handler: Callable[..., Awaitable[Any]]) -> None:
        parameters = _nothing()
        for argument in func_args:
            parameters["properties"][argument["name"]] = {
                "type": argument["type"],
                "description": argument["description"],
            }
        self.add_tool(FunctionTool(name, desc, parameters, handler))

    def remove_func(self, name: str) -> None:
        self.remove_tool(name)

    def get_func(self, name: str) -> FunctionTool | None:
        return self.get_tool(name)

    def openai_schema(self, omit_empty_parameter_field: bool = False) -> list[dict]:
        from .schema import openai

        return openai(self.tools, omit_empty_parameter_field)

    def anthropic_schema(self) -> list[dict]:
        from .schema import anthropic

        return anthropic(self.tools)

    def google_schema(self) -> dict:
        from .schema import google

        return google(self.tools)

    get_func_desc_openai_style = openai_schema
    get_func_desc_anthropic_style = anthropic_schema
    get_func_desc_google_genai_style = google_schema

    def __len__(self) -> int:
        return len(self.tools)

    def __bool__(self) -> bool:
        return bool(self.tools)

    def __iter__(self) -> Iterator[FunctionTool]:
        return iter(self.tools)

    def __repr__(self) -> str:
        return f"ToolSet(tools={self.tools})"

    __str__ = __repr__
