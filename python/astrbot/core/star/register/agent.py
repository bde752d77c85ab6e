"""Tools and agents from decorated functions; a tool's schema is read from its docstring."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

import docstring_parser

from astrbot import texts
from astrbot.core.agent.agent import Agent
from astrbot.core.agent.handoff import HandoffTool
from astrbot.core.agent.hooks import BaseAgentRunHooks
from astrbot.core.agent.tool import FunctionTool
from astrbot.core.provider.func_tool_manager import PY_TO_JSON_TYPE, SUPPORTED_TYPES
from astrbot.core.provider.register import llm_tools

from ..star_handler import EventType
from .handler import get_handler_or_create

# Compat(astrbot): these headings are not recognised upstream either; the parameters are silently lost there.
_UNREAD = re.compile(r"^\s*(参数\s*[:：]|(Args|Arguments|Parameters)\s*：)", re.MULTILINE)


def register_llm_tool(name: str | None = None, **kwargs: Any):
    agent: RegisteringAgent | None = kwargs.get("registering_agent")

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        tool_name = name or function.__name__
        described, arguments = read_docstring(f"{function.__module__}_{tool_name}", function.__doc__ or "")
        if agent is None:
            record = get_handler_or_create(function, EventType.OnCallingFuncToolEvent)
            llm_tools.add_func(tool_name, arguments, described, record.handler)
        else:
            tool = llm_tools.spec_to_func(tool_name, arguments, described, function)
            agent._agent.tools = [*(agent._agent.tools or []), tool]
        return function

    return decorator


def read_docstring(tool: str, text: str) -> tuple[str, list[dict]]:
    """Description and arguments. A type that is missing or unknown stops the plugin from loading."""
    parsed = docstring_parser.parse(text)
    if not parsed.params and _UNREAD.search(text):
        logging.getLogger("astrbot.author").warning(
            "tool %s: its parameters are not recognised; write `Args:` and `name(type): text` with ASCII colons",
            tool,
        )
    return (parsed.description or "").strip(), [_argument(tool, item) for item in parsed.params]


def _argument(tool: str, item: docstring_parser.DocstringParam) -> dict:
    if not item.type_name:
        raise ValueError(texts.TOOL_TYPE_MISSING.format(tool=tool, name=item.arg_name))
    outer, inner = item.type_name, None
    if match := re.match(r"(\w+)\[(\w+)\]", item.type_name):
        outer, inner = match.groups()
    outer = PY_TO_JSON_TYPE.get(outer, outer)
    inner = PY_TO_JSON_TYPE.get(inner, inner) if inner else None
    nested = "[" in item.type_name and (inner is None or outer != "array" or item.type_name.count("[") > 1)
    if outer not in SUPPORTED_TYPES or (inner and inner not in SUPPORTED_TYPES) or nested:
        problem = texts.TOOL_TYPE_UNSUPPORTED.format(tool=tool, type=item.type_name)
        raise ValueError(f"{problem} ({item.arg_name}: {', '.join(SUPPORTED_TYPES)}, array[...])")
    shape: dict[str, Any] = {"type": outer, "name": item.arg_name, "description": item.description}
    if inner and outer == "array":
        shape["items"] = {"type": inner}
    return shape


class RegisteringAgent:
    """What `@agent(...)` returns: tools of that agent register on it."""

    def __init__(self, agent: Agent[Any]) -> None:
        self._agent = agent

    def llm_tool(self, *args: Any, **kwargs: Any):
        return register_llm_tool(*args, registering_agent=self, **kwargs)


def register_agent(
    name: str,
    instruction: str,
    tools: list[str | FunctionTool] | None = None,
    run_hooks: BaseAgentRunHooks[Any] | None = None,
):
    def decorator(function: Callable[..., Any]) -> RegisteringAgent:
        agent: Agent[Any] = Agent(name, instruction, tools or [], run_hooks or BaseAgentRunHooks())
        handoff = HandoffTool(agent=agent)
        handoff.handler = function
        handoff.handler_module_path = function.__module__
        llm_tools.func_list.append(handoff)
        return RegisteringAgent(agent)

    return decorator
