"""Routes of plugins: one application per plugin, made when it is first asked for."""

from typing import Any

from nekro_agent.services.plugin.collector import plugin_collector

_applications: dict[str, Any] = {}


def application(plugin: str) -> Any | None:
    """The ASGI application of a plugin's routes, rooted at `/`; None where it has none."""
    found = plugin_collector.get_plugin(plugin)
    if found is None or not found.is_enabled:
        return None
    if plugin not in _applications:
        router = found.get_plugin_router()
        if router is None:
            return None
        from fastapi import FastAPI

        made = FastAPI(title=found.name, version=found.version, openapi_url=None)
        made.include_router(router)
        _applications[plugin] = made
    return _applications[plugin]


def forget(plugin: str) -> None:
    _applications.pop(plugin, None)
