"""The channel `web`: plugins' routes, served in the plugins' own event loop on a listening socket that the
host made and only it reaches. The host has checked who asks; here a path only finds its plugin.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from callgate_worker import host

Application = Callable[..., Any]


class Web:
    """`find` gives the ASGI application of a plugin, rooted at `/`, or None."""

    def __init__(self, find: Callable[[str], Application | None], listener: socket.socket) -> None:
        self._find = find
        self._listener = listener
        self._serving: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connections are served from now on."""
        if self._serving is None or self._serving.done():
            server = _server(self)
            # A server closes what it was given when it ends; ours may be followed by another.
            served = server.serve(sockets=[self._listener.dup()])
            self._serving = asyncio.get_running_loop().create_task(served)
            while not server.started:
                if self._serving.done():
                    self._serving.result()
                await asyncio.sleep(0.005)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        _, _, rest = scope["path"].partition("/")
        plugin, slash, rest = rest.partition("/")
        plugin = unquote(plugin)
        host.plugin.set(plugin)
        application = self._find(plugin)
        if application is None:
            await _not_found(scope, send)
            return
        path = f"/{rest}" if slash else "/"
        roots = [value.decode() for name, value in scope["headers"] if name == b"x-callgate-root"]
        root = f"{(roots or ['/plugins'])[0]}/{plugin}"
        inner = {**scope, "path": path, "raw_path": path.encode(), "root_path": root}
        await application(inner, receive, send)


async def _not_found(scope: dict[str, Any], send: Any) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 4404})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 404, "headers": headers})
    await send({"type": "http.response.body", "body": b"this plugin has no routes"})


def _server(application: Application) -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        """Signals are the worker's business."""

        def install_signal_handlers(self) -> None:
            return None

        def capture_signals(self) -> Any:
            return contextlib.nullcontext()

    # Proxy headers: the host is the only one who can connect.
    config = uvicorn.Config(
        application, lifespan="off", log_config=None, access_log=False, proxy_headers=True, forwarded_allow_ips="*"
    )
    return Server(config)
