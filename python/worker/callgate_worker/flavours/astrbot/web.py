"""Plugins' web routes as one ASGI application: a real Quart request context, and `astrbot.api.web` on it.

Who asks is the host's decision; its proxy says so in headers that nobody outside can set. Compat(astrbot):
routes are written for whoever is logged in to the dashboard, who is the operator; nobody else is let in, and
nobody reaches the routes of another plugin."""

from __future__ import annotations

import functools
import inspect
import json
import re
from typing import Any

from fastapi.responses import FileResponse, StreamingResponse
from quart import Quart, Response, request, send_file
from starlette.responses import Response as StarletteResponse
from werkzeug.routing import Rule

from astrbot.api.web import PluginRequest, bind_request_context
from astrbot.core.star.context import Context
from callgate_worker.flavours.astrbot.loading import module_of

_PARAMETER = re.compile(r"<(?:(path):)?([A-Za-z_]\w*)>")
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_PREFIXES = ("/api/plug/", "/api/v1/plug/", "/")


def application(plugin: str, package: str) -> Quart:
    """Of the plugin whose code lies in `package`."""
    app = Quart("astrbot")
    app.url_map.add(Rule("/", endpoint="route", methods=_METHODS, defaults={"route": ""}))
    app.url_map.add(Rule("/<path:route>", endpoint="route", methods=_METHODS))
    app.view_functions["route"] = functools.partial(answer, plugin, package)
    return app


async def answer(plugin: str, package: str, route: str) -> Response:
    """Routes are known as plugins wrote them, mostly with their own name in front, which the host has cut off."""
    if request.headers.get("x-callgate-role") != "operator":
        return _json({"status": "error", "message": "this needs the operator's key", "data": {}}, 403)
    prefix = next(prefix for prefix in _PREFIXES if request.path.startswith(prefix))
    path = "/" + request.path.removeprefix(prefix)
    own = f"/{plugin}{path}".rstrip("/")
    found = find(package, path, request.method) or find(package, own, request.method)
    if found is None:
        return _json({"status": "error", "message": "no such route", "data": {}}, 404)
    handler, values = found
    bound = PluginRequest(
        request,
        path_params=values,
        plugin_name=plugin,
        username=request.headers.get("x-callgate-user"),
    )
    with bind_request_context(bound):
        result = handler(**values)
        if inspect.isawaitable(result):
            result = await result
    return await _response(result)


def find(package: str, path: str, method: str) -> tuple[Any, dict[str, str]] | None:
    for route, handler, methods, _ in Context.registered_web_apis:
        if is_neighbours(package, handler):
            continue
        if method in [one.upper() for one in methods] and (match := _pattern(route).fullmatch(path)):
            return handler, match.groupdict()
    return None


def is_neighbours(package: str, handler: Any) -> bool:
    """Is it the code of another plugin? What is no plugin's code is whoever's who registered it."""
    module = module_of(handler) or ""
    return module.startswith("data.plugins.") and not f"{module}.".startswith(f"{package}.")


def _pattern(route: str) -> re.Pattern[str]:
    """`/a/<id>/<path:rest>` as a regular expression."""
    parts, place = [], 0
    route = "/" + route.strip().lstrip("/")
    for match in _PARAMETER.finditer(route):
        parts.append(re.escape(route[place : match.start()]))
        parts.append(f"(?P<{match[2]}>{'.*' if match[1] else '[^/]+'})")
        place = match.end()
    return re.compile("".join(parts) + re.escape(route[place:]))


async def _response(result: Any) -> Response:
    status = None
    if isinstance(result, tuple):
        result, status = result[0], next((one for one in result[1:] if isinstance(one, int)), None)
    if isinstance(result, Response):
        if status is not None:
            result.status_code = status
        return result
    if isinstance(result, StarletteResponse):
        return await _of_starlette(result)
    if isinstance(result, str | bytes):
        return Response(result, status or 200)
    return _json({} if result is None else result, status or 200)


async def _of_starlette(result: StarletteResponse) -> Response:
    """Made by the plugin itself, from what `astrbot.api.web` has of Starlette's."""
    headers = {name: value for name, value in result.headers.items() if name != "content-length"}
    if isinstance(result, FileResponse):
        made = await send_file(result.path, attachment_filename=result.filename)
        made.headers.update(headers)
        made.status_code = result.status_code
        return made
    body = result.body_iterator if isinstance(result, StreamingResponse) else result.body
    return Response(body, result.status_code, headers)


def _json(body: Any, status: int) -> Response:
    return Response(
        json.dumps(body, ensure_ascii=False, default=str), status, content_type="application/json"
    )
