"""Tools in the three shapes providers want. The host has its own wires; plugins that talk to a provider
themselves ask for these."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_TYPES = {"string", "number", "integer", "boolean", "array", "object", "null"}
_FORMATS = {"string": {"enum", "date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"}}
_KEPT = ("title", "description", "enum", "minimum", "maximum", "maxItems", "minItems", "nullable", "required")


def openai(tools: Iterable[Any], omit_empty: bool) -> list[dict]:
    shaped = []
    for tool in tools:
        function: dict[str, Any] = {"name": tool.name}
        if tool.description:
            function["description"] = tool.description
        if tool.parameters is not None and (tool.parameters.get("properties") or not omit_empty):
            function["parameters"] = tool.parameters
        shaped.append({"type": "function", "function": function})
    return shaped


def anthropic(tools: Iterable[Any]) -> list[dict]:
    shaped = []
    for tool in tools:
        schema: dict[str, Any] = {"type": "object"}
        if tool.parameters:
            schema["properties"] = tool.parameters.get("properties", {})
            schema["required"] = tool.parameters.get("required", [])
        shaped.append(
            {"name": tool.name, "input_schema": schema}
            | ({"description": tool.description} if tool.description else {})
        )
    return shaped


def google(tools: Iterable[Any]) -> dict:
    shaped = []
    for tool in tools:
        declaration: dict[str, Any] = {"name": tool.name}
        if tool.description:
            declaration["description"] = tool.description
        if tool.parameters:
            declaration["parameters"] = _gemini(tool.parameters)
        shaped.append(declaration)
    return {"function_declarations": shaped} if shaped else {}


def _gemini(schema: dict) -> dict:
    if "anyOf" in schema:
        return {"anyOf": [_gemini(option) for option in schema["anyOf"]]}
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), "string")
    shaped: dict[str, Any] = {"type": kind if kind in _TYPES else "null"}
    if schema.get("format") in _FORMATS.get(shaped["type"], set()):
        shaped["format"] = schema["format"]
    shaped |= {name: schema[name] for name in _KEPT if name in schema}
    if properties := {name: _gemini(value) for name, value in schema.get("properties", {}).items()}:
        shaped["properties"] = properties
    if kind == "array":
        items = schema.get("items")
        shaped["items"] = _gemini(items) if isinstance(items, dict) else {"type": "string"}
    return shaped
