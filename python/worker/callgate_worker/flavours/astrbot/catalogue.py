"""A plugin's tools, commands and hooks as the host describes them, and host methods as tools for plugins."""

from __future__ import annotations

import logging
import time
from dataclasses import asdict
from typing import Any

from astrbot.core.agent.tool import FunctionTool
from callgate_worker import host
from callgate_worker.flavour import Loaded, MethodSpec
from callgate_worker.flavours.astrbot.loading import owner

logger = logging.getLogger("astrbot")

_OLD = 5.0
REPORTED: set[str] = set()
"""Names of tools that the host was told of."""


class HostTool(FunctionTool):
    """A method of the host (Rust, MCP, another flavour) in a plugin's hands."""

    host_name: str
    mcp_server_name: str

    @classmethod
    def of(cls, row: dict[str, Any]) -> HostTool:
        nothing = {"type": "object", "properties": {}}
        made = cls(row["name"], row.get("description") or "", row.get("parameters") or nothing)
        made.host_name = row["name"]
        kind, _, server = row.get("origin", "").partition(":")
        if kind == "mcp":
            # Compat(astrbot): by this plugins tell tools of servers from those of plugins.
            made.mcp_server_name = server
        return made

    async def call(self, context: Any, **kwargs: Any) -> Any:
        answer = await host.call("method_call", name=self.host_name, named=kwargs)
        return answer.get("text") or str(answer.get("value"))


class Catalogue:
    """Keeps the host's list of our tools, and our list of the servers' tools, up to date. `func_list` is a plain
    list that plugins change at will, so it is looked at after every step."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self._stars: dict[str, Any] = {}
        self._seen: tuple[Any, ...] = ()
        self._told: dict[str, list[dict[str, Any]]] = {}
        self._version: int | None = None
        self._asked_at = float("-inf")

    async def tell(self) -> None:
        """Tools that came, went or were switched since the last time reach the gate."""
        seen = tuple((tool, tool.active) for tool in self._manager.func_list)
        if seen == self._seen:
            return
        self._seen = seen
        for star in list(self._stars.values()):
            offered = [asdict(method) for method in methods_of(star)]
            if self._told[star.name] == offered:
                continue
            self._told[star.name] = offered
            REPORTED.update(method["name"] for method in offered)
            try:
                await host.call("plugin_methods", plugin=star.name, methods=offered)
            except host.HostError as error:
                logger.warning("the host was not told of changed tools of %s: %s", star.name, error)

    def loaded(self, star: Any) -> None:
        """What the answer to its loading says."""
        self._stars[star.name] = star
        self._told[star.name] = [asdict(method) for method in methods_of(star)]

    def unloaded(self, name: str) -> None:
        self._stars.pop(name, None)

    async def ask(self) -> None:
        """The tools of servers are in `func_list`, as upstream's are."""
        now = time.monotonic()
        if now - self._asked_at < _OLD:
            return
        self._asked_at = now
        answer = await host.call("method_list", version=self._version)
        if answer is None:
            return
        self._version = answer["version"]
        rows = [row for row in answer["methods"] if row["origin"].startswith("mcp:")]
        own = [tool for tool in self._manager.func_list if not isinstance(tool, HostTool)]
        taken = {tool.name for tool in own}
        self._manager.func_list[:] = [*own, *(HostTool.of(row) for row in rows if row["name"] not in taken)]


def tools_of(star: Any) -> list[Any]:
    from astrbot.core.provider.register import llm_tools

    package = star.module_path.rpartition(".")[0]
    return [tool for tool in llm_tools.func_list if (owner(tool) or "").startswith(f"{package}.")]


def routes_of(star: Any) -> list[str]:
    from astrbot.core.star.context import Context

    package = f"{star.module_path.rpartition('.')[0]}."
    mine = [
        route
        for route, handler, *_ in Context.registered_web_apis
        if (getattr(handler, "__module__", None) or "").startswith(package)
    ]
    return sorted(mine)


def methods_of(star: Any) -> list[MethodSpec]:
    return [
        MethodSpec(
            name=tool.name,
            description=tool.description,
            doc=tool.description,
            parameters=tool.parameters,
            binding="loose",
        )
        for tool in tools_of(star)
        if tool.active
    ]


def loaded(star: Any, warnings: list[str]) -> Loaded:
    REPORTED.update(tool.name for tool in tools_of(star))
    return Loaded(
        id=star.name,
        name=star.display_name or star.name,
        version=str(star.version or ""),
        author=star.author or "",
        description=star.desc or "",
        methods=methods_of(star),
        commands=[command for record in records_of(star) for command in _commands(record)],
        hooks=sorted({record.event_type.name for record in records_of(star)}),
        config=_config(star),
        warnings=warnings,
        extra={
            "handlers": sorted(
                f"{record.event_type.name}:{record.handler_name}" for record in records_of(star)
            ),
            "tools": [
                {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
                for tool in tools_of(star)
            ],
            "loaded": [{"name": star.name, "version": star.version, "activated": star.activated}],
            "directory": star.root_dir_name,
            "routes": routes_of(star),
        },
    )


def records_of(star: Any) -> list[Any]:
    from astrbot.core.star.star_handler import star_handlers_registry

    return star_handlers_registry.get_handlers_by_module_name(star.module_path)


def _commands(record: Any) -> list[dict[str, Any]]:
    from astrbot.core.star.filter.command import CommandFilter
    from astrbot.core.star.filter.permission import PermissionType, PermissionTypeFilter

    admin = any(
        isinstance(one, PermissionTypeFilter) and one.permission_type == PermissionType.ADMIN
        for one in record.event_filters
    )
    return [
        {
            "name": one.get_complete_command_names()[0],
            "aliases": one.get_complete_command_names()[1:],
            "description": record.desc,
            "arguments": one.print_types(),
            "admin": admin,
        }
        for one in record.event_filters
        if isinstance(one, CommandFilter)
    ]


def _config(star: Any) -> dict[str, Any] | None:
    if star.config is None:
        return None
    return {"values": dict(star.config), "schema": star.config.schema, "file": star.config.config_path}
