"""A Bot API server on loopback: tokens, JSON and forms with files, long polls, webhooks, files. It can fail as the real
one does. That it is right is shown by grammY, which completes the same script on it (script.py)."""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator
from enum import Enum
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout, web

from .methods import Methods, Refused
from .world import World


class Fault(Enum):
    """What happens to a request instead of an answer."""

    LIMIT = "429: come back later; it is not done"
    BROKEN = "502; it is not done"
    CLOSE_BEFORE = "the connection is closed; it is not done"
    CLOSE_AFTER = "it is done, and the connection closed"
    UNPARSABLE = "the marks of the text are refused"


class Server:
    def __init__(self, world: World, *, has_drafts: bool = True):
        self.world = world
        self.methods = Methods(world)
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.webhook: dict[str, Any] = {}
        self.posts: list[tuple[int, int]] = []
        """Update and status of each post."""
        self._has_drafts = has_drafts
        self._plans: dict[str, deque[tuple[Fault, int]]] = {}
        self._polls = 0
        self._posting: asyncio.Task | None = None

    def plan(self, method: str, fault: Fault, *, seconds: int = 1) -> None:
        """For the next request of that method that has no plan yet."""
        self._plans.setdefault(method, deque()).append((fault, seconds))

    @contextlib.asynccontextmanager
    async def serve(self, port: int = 0) -> AsyncIterator[str]:
        """Its address. A server that is left can be served again: the world goes on."""
        app = web.Application(client_max_size=64 << 20)
        app.router.add_route("*", "/bot{token}/{method}", self._answer)
        app.router.add_get("/file/bot{token}/{path:.*}", self._file)
        runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        assert site._server
        self.port = site._server.sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{self.port}"
        finally:
            if self._posting:
                self._posting.cancel()
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        try:
            if request.match_info["token"] != self.world.token:
                raise Refused(401, "Unauthorized")
            given, files = await _given(request)
            self.asked.append((method, given))
            fault, seconds = self._planned(method)
            if fault is Fault.LIMIT:
                raise Refused(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)
            if fault is Fault.BROKEN:
                raise Refused(502, "Bad Gateway")
            if fault is Fault.UNPARSABLE and given.get("parse_mode"):
                raise Refused(400, "Bad Request: can't parse entities: Unsupported start tag")
            if fault is Fault.CLOSE_BEFORE:
                return self._close(request)
            result = await self._call(method, given, files)
            if fault is Fault.CLOSE_AFTER:
                return self._close(request)
        except Refused as error:
            body = {"ok": False, "error_code": error.code, "description": error.description}
            if error.parameters:
                body["parameters"] = error.parameters
            return web.json_response(body, status=error.code)
        return web.json_response({"ok": True, "result": result})

    async def _call(self, method: str, given: dict[str, Any], files: dict[str, tuple[str, bytes]]) -> Any:
        match method:
            case "getUpdates":
                return await self._updates(given)
            case "setWebhook" | "deleteWebhook":
                self.webhook = given if given.get("url") else {}
                if self._posting:
                    self._posting.cancel()
                    self._posting = None
                if self.webhook:
                    self._posting = asyncio.create_task(self._post())
                return True
            case "getWebhookInfo":
                return {"url": self.webhook.get("url", ""), "has_custom_certificate": False,
                        "pending_update_count": len(self.world.waiting)}  # fmt: skip
            case "sendMessageDraft" if not self._has_drafts:
                raise Refused(404, "Not Found: method not found")
        return self.methods.call(method, given, files)

    async def _updates(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        """Asking from an offset forgets all before it."""
        world = self.world
        if self.webhook:
            words = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete it first"
            raise Refused(409, words)
        self._polls += 1
        number = self._polls
        offset = int(given.get("offset") or 0)
        if offset > 0:
            world.waiting = {id: update for id, update in world.waiting.items() if id >= offset}

        def ready() -> bool:
            return bool(world.waiting) or number != self._polls

        async with world.changed:
            world.changed.notify_all()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(world.changed.wait_for(ready), int(given.get("timeout") or 0) or 0.01)
        if number != self._polls:
            words = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
            raise Refused(409, words)
        limit = int(given.get("limit") or 100)
        return list(world.waiting.values())[:limit]

    async def _post(self) -> None:
        """One at a time but for an album, whose pictures do not wait for each other; what is not taken is posted again."""
        under_way: dict[int, asyncio.Task[bool]] = {}
        async with ClientSession(timeout=ClientTimeout(total=30)) as session, asyncio.TaskGroup() as posts:
            while True:
                waiting = list(self.world.waiting.items())
                album = waiting[0][1].get("message", {}).get("media_group_id") if waiting else None
                for place, (id, update) in enumerate(waiting):
                    goes = place == 0 or (album and update.get("message", {}).get("media_group_id") == album)
                    if goes and id not in under_way:
                        under_way[id] = posts.create_task(self._post_one(session, update))
                await asyncio.sleep(0.02)
                for id, post in list(under_way.items()):
                    if post.done():
                        del under_way[id]
                        await asyncio.sleep(0 if post.result() else 0.2)

    async def _post_one(self, session: ClientSession, update: dict[str, Any]) -> bool:
        headers = {"X-Telegram-Bot-Api-Secret-Token": self.webhook.get("secret_token", "")}
        try:
            async with session.post(self.webhook["url"], json=update, headers=headers) as answer:
                status = answer.status
        except (ClientError, TimeoutError, OSError):
            status = 0
        self.posts.append((update["update_id"], status))
        if 200 <= status < 300:
            self.world.waiting.pop(update["update_id"], None)
            return True
        return False

    async def _file(self, request: web.Request) -> web.StreamResponse:
        id = request.match_info["path"].removeprefix("got/").rpartition(".")[0]
        if request.match_info["token"] != self.world.token or id not in self.world.files:
            raise web.HTTPNotFound
        self.world.downloads.append(id)
        return web.Response(body=self.world.files[id][1])

    def _planned(self, method: str) -> tuple[Fault | None, int]:
        plans = self._plans.get(method)
        return plans.popleft() if plans else (None, 0)

    def _close(self, request: web.Request) -> web.StreamResponse:
        if request.transport:
            request.transport.abort()
        return web.Response()


async def _given(request: web.Request) -> tuple[dict[str, Any], dict[str, tuple[str, bytes]]]:
    """Parameters, and files by their names in the form."""
    if request.content_type == "application/json":
        body = await request.text()
        return (json.loads(body) if body else {}), {}
    given: dict[str, Any] = dict(request.query)
    files = {}
    if request.content_type in ("multipart/form-data", "application/x-www-form-urlencoded"):
        for name, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                files[name] = (value.filename, value.file.read())
            else:
                given[name] = value
    return given, files
