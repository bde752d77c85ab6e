"""The catalogue of tools plugins registered. `func_list` is a plain list that plugins change at will;
the flavour compares it with what the host knows at the end of every step."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

from astrbot import logger, markers, texts
from astrbot.core.agent.tool import FunctionTool, ToolSet

SUPPORTED_TYPES = ["string", "number", "object", "array", "boolean"]
PY_TO_JSON_TYPE = {
    "int": "number",
    "float": "number",
    "bool": "boolean",
    "str": "string",
    "dict": "object",
    "list": "array",
    "tuple": "array",
    "set": "array",
}
FuncTool = FunctionTool
_INACTIVE = "inactivated_llm_tools"


class _PermissionGuardedTool(FunctionTool):
    """A registered tool as an ordinary chat sees it: permission first, then the tool.

    Compat(astrbot): of a tool that yields, only the last result counts, and arguments are not filtered."""

    def __init__(self, tool: FunctionTool, manager: FunctionToolManager) -> None:
        super().__init__(tool.name, tool.description, getattr(tool, "parameters", None) or {})
        self._wrapped = tool
        self._mgr = manager
        self.active = getattr(tool, "active", True)
        self.handler_module_path = getattr(tool, "handler_module_path", None)

    async def call(self, context: Any, **kwargs: Any) -> Any:
        if (denied := await self._mgr._check_tool_permission(self.name, context)) is not None:
            return denied
        tool = self._wrapped
        if tool.handler is None and type(tool).call is not FunctionTool.call:
            return await tool.call(context, **kwargs)
        function = tool.handler or getattr(tool, "run", None)
        if function is None:
            return markers.TOOL_ERROR.format(error=texts.TOOL_NOTHING_TO_CALL)
        result = function(context.context.event, **kwargs)
        if inspect.isasyncgen(result):
            results = [one async for one in result]
            return results[-1] if results else None
        return await result if inspect.isawaitable(result) else result


class FunctionToolManager:
    def __init__(self) -> None:
        self.func_list: list[FunctionTool] = []
        self.builtin_func_list: dict[type, FunctionTool] = {}
        self._builtin_tools: dict[str, FunctionTool] = {}
        self.mcp_client_dict: dict[str, Any] = {}

    def empty(self) -> bool:
        return not self.func_list

    def spec_to_func(
        self, name: str, func_args: list[dict], desc: str, handler: Callable[..., Any]
    ) -> FunctionTool:
        properties = {}
        for argument in func_args:
            shape = copy.deepcopy(argument)
            properties[shape.pop("name")] = shape
        return FunctionTool(name, desc, {"type": "object", "properties": properties}, handler)

    def add_func(self, name: str, func_args: list, desc: str, handler: Callable[..., Any]) -> None:
        self.remove_func(name)
        self.func_list.append(self.spec_to_func(name, func_args, desc, handler))

    def remove_func(self, name: str) -> None:
        for place, tool in enumerate(self.func_list):
            if tool.name == name:
                del self.func_list[place]
                return

    def get_func(self, name: str) -> FunctionTool | None:
        named = [tool for tool in reversed(self.func_list) if tool.name == name]
        return next((tool for tool in named if getattr(tool, "active", True)), named[0] if named else None)

    def get_full_tool_set(self) -> ToolSet:
        tools = ToolSet()
        for tool in self.func_list:
            tools.add_tool(guarded(tool, self))
        return tools

    # AstrBot's own tools: never part of a turn by themselves, but plugins ask for them

    def get_builtin_tool(self, tool: str | type) -> FunctionTool:
        for known in self._builtin().values():
            if known.name == tool or type(known) is tool:
                return known
        raise KeyError(f"Builtin tool {tool} is not registered.")

    def iter_builtin_tools(self) -> list[FunctionTool]:
        return list(self._builtin().values())

    def is_builtin_tool(self, name: str) -> bool:
        return name in self._builtin()

    def _builtin(self) -> dict[str, FunctionTool]:
        from astrbot.core.provider.builtin_tools import all_tools

        if not self._builtin_tools:
            self._builtin_tools = all_tools()
        return self._builtin_tools

    def get_func_desc_openai_style(self, omit_empty_parameter_field: bool = False) -> list:
        return self._active().openai_schema(omit_empty_parameter_field)

    def get_func_desc_anthropic_style(self) -> list:
        return self._active().anthropic_schema()

    def get_func_desc_google_genai_style(self) -> dict:
        return self._active().google_schema()

    def _active(self) -> ToolSet:
        return ToolSet([tool for tool in self.get_full_tool_set() if tool.active])

    # Switching tools on and off outlives a restart

    def deactivate_llm_tool(self, name: str) -> bool:
        from astrbot.core import sp

        tool = self.get_func(name)
        if tool is None:
            return False
        tool.active = False
        names = sp.get(_INACTIVE, [], scope="global", scope_id="global")
        if name not in names:
            sp.put(_INACTIVE, [*names, name], scope="global", scope_id="global")
        return True

    async def deactivate_llm_tool_async(self, name: str) -> bool:
        from astrbot.core import sp

        tool = self.get_func(name)
        if tool is None:
            return False
        tool.active = False
        names = await sp.global_get(_INACTIVE, [])
        if name not in names:
            await sp.global_put(_INACTIVE, [*names, name])
        return True

    def activate_llm_tool(self, name: str, star_map: dict) -> bool:
        from astrbot.core import sp

        tool = self._to_activate(name, star_map)
        if tool is None:
            return False
        tool.active = True
        names = sp.get(_INACTIVE, [], scope="global", scope_id="global")
        if name in names:
            sp.put(_INACTIVE, [known for known in names if known != name], scope="global", scope_id="global")
        return True

    async def activate_llm_tool_async(self, name: str, star_map: dict) -> bool:
        from astrbot.core import sp

        tool = self._to_activate(name, star_map)
        if tool is None:
            return False
        tool.active = True
        names = await sp.global_get(_INACTIVE, [])
        if name in names:
            await sp.global_put(_INACTIVE, [known for known in names if known != name])
        return True

    def _to_activate(self, name: str, star_map: dict) -> FunctionTool | None:
        tool = self.get_func(name)
        if tool is None:
            return None
        plugin = star_map.get(tool.handler_module_path)
        if plugin is not None and not plugin.activated:
            raise ValueError(f"the plugin {plugin.name} of tool {name} is disabled; enable the plugin first")
        return tool

    async def _check_tool_permission(self, tool_name: str, context: Any) -> str | None:
        from astrbot.core import sp

        permissions = await sp.global_get("tool_permissions", {})
        if (permissions or {}).get("_default", {}).get(tool_name) != "admin":
            return None
        event = context.context.event
        if event is not None and event.is_admin():
            return None
        logger.info("tool %s needs an administrator", tool_name)
        return texts.TOOL_DENIED.format(tool=tool_name, user=event.get_sender_id() if event else "unknown")

    def __repr__(self) -> str:
        return str(self.func_list)


def guarded(tool: FunctionTool, manager: FunctionToolManager) -> FunctionTool:
    """Handoffs stay as they are: the executor runs them, not their handler."""
    from astrbot.core.agent.handoff import HandoffTool

    return tool if isinstance(tool, HandoffTool) else _PermissionGuardedTool(tool, manager)


FuncCall = FunctionToolManager
