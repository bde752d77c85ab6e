"""A OneBot v11 implementation as NapCat is one: it connects to whoever listens (reverse WebSocket, one for all or one
for actions and one for events), listens itself (forward WebSocket, HTTP) and posts events (webhook).

It can fail as the real one does: refuse, be late, say nothing, close in the middle, or stop reading.
"""

import asyncio
import contextlib
import copy
import hashlib
import hmac
import json
import time
from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, web

from . import cq
from .world import FAILED, OK, Refused, Sent, World

Socket = ClientWebSocketResponse | web.WebSocketResponse


class Fault(Enum):
    """What happens to an action instead of an answer."""

    REFUSE = "it is refused, and not done"
    SILENT = "it is done, and no answer comes"
    CLOSE_AFTER = "it is done, and the socket closes without an answer"
    CLOSE_BEFORE = "it is not done, and the socket closes without an answer"
    LATE = "it is done, and the answer comes late"


@dataclass(frozen=True)
class Planned:
    action: str
    fault: Fault
    retcode: int = FAILED
    seconds: float = 0.0


class Client:
    def __init__(self, world: World, *, token: str = "", secret: str = "", message_format: str = "array"):
        self.world = world
        self.token = token
        self.secret = secret
        self.message_format = message_format
        # What it was asked, in order, whether or not it was done.
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.news = asyncio.Condition()
        self._expected: dict[str, asyncio.Future[Sent]] = {}
        self.world.on_sent = self._told
        self._planned: deque[Planned] = deque()
        self._sockets: list[Socket] = []
        self._events: list[Socket] = []
        self._webhooks: list[str] = []
        self._tasks: set[asyncio.Task] = set()
        self._session: ClientSession | None = None
        self._runners: list[web.AppRunner] = []
        # Set while it reads; cleared, its sockets stay open and nothing is read any more.
        self.reading = asyncio.Event()
        self.reading.set()

    # Faults.

    def plan(self, action: str, fault: Fault, *, retcode: int = FAILED, seconds: float = 0.0) -> None:
        """For the next call of `action`."""
        self._planned.append(Planned(action, fault, retcode, seconds))

    def _fault(self, action: str) -> Planned | None:
        for planned in self._planned:
            if planned.action == action:
                self._planned.remove(planned)
                return planned
        return None

    # Ways to be connected.

    async def connect(self, url: str, role: str = "Universal", *, token_in: str = "header") -> ClientWebSocketResponse:
        """A reverse WebSocket; its role is Universal, API or Event."""
        self._session = self._session or ClientSession()
        headers = {"X-Self-ID": str(self.world.self_id), "X-Client-Role": role, "User-Agent": "OneBot/11"}
        if self.token and token_in == "header":
            headers["Authorization"] = f"Bearer {self.token}"
        elif self.token:
            url += f"?access_token={self.token}"
        socket = await self._session.ws_connect(url, headers=headers, max_msg_size=0)
        await self._take(socket, sends_events=role != "API")
        return socket

    async def listen(self) -> int:
        """The forward WebSocket (`/`, `/api`, `/event`) and actions by HTTP (`/<action>`), at the port returned."""
        application = web.Application(client_max_size=0)
        application.router.add_route("*", "/{path:.*}", self._answer_http)
        runner = web.AppRunner(application, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self._runners.append(runner)
        return runner.addresses[0][1]

    async def followed(self, seconds: float = 60.0) -> None:
        """Until somebody has connected who gets events."""
        async with asyncio.timeout(seconds):
            while not self._events:
                await asyncio.sleep(0.02)

    async def post_to(self, url: str) -> None:
        """Events go to this webhook."""
        self._webhooks.append(url)

    async def drop(self) -> None:
        """All connections."""
        for socket in list(self._sockets):
            with contextlib.suppress(ConnectionError):
                await socket.close()

    async def close(self) -> None:
        await self.drop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for runner in self._runners:
            await runner.cleanup()
        if self._session:
            await self._session.close()

    # Events out.

    async def emit(self, event: dict[str, Any]) -> None:
        """To everybody who gets events; a message is in the history before it is heard of."""
        if event["post_type"] in ("message", "message_sent"):
            self.world.history[int(event["message_id"])] = event
        for socket in [socket for socket in self._events if not socket.closed]:
            # The other side may have died, and be found dead only now.
            with contextlib.suppress(ConnectionError):
                await socket.send_str(self.serialized(event))
        for url in self._webhooks:
            await self.post(url, event)

    async def post(self, url: str, event: dict[str, Any], *, signature: str | None = None) -> int:
        """Posts an event, does the quick operation that is answered and returns the status."""
        self._session = self._session or ClientSession()
        body = self.serialized(event).encode()
        headers = {"Content-Type": "application/json", "X-Self-ID": str(self.world.self_id)}
        if self.secret:
            headers["X-Signature"] = f"sha1={hmac.new(self.secret.encode(), body, hashlib.sha1).hexdigest()}"
        if signature is not None:
            headers["X-Signature"] = signature
        async with self._session.post(url, data=body, headers=headers) as response:
            operation = await response.text()
        if response.status == 200 and operation.strip() not in ("", "{}"):
            self.world.answer(".handle_quick_operation", {"context": event, "operation": json.loads(operation)})
        return response.status

    def serialized(self, event: dict[str, Any]) -> str:
        """In the format that was chosen for messages."""
        if "message_format" in event and self.message_format == "string":
            event = {**event, "message": cq.from_segments(event["message"]), "message_format": "string"}
        return json.dumps(event, ensure_ascii=False)

    def meta(self, kind: str, **fields: Any) -> dict[str, Any]:
        event = {"time": int(time.time()), "self_id": self.world.self_id, "post_type": "meta_event"}
        return {**event, "meta_event_type": kind, **fields}

    # Actions in.

    def expect(self, chat: str) -> asyncio.Future[Sent]:
        """The next message in a chat."""
        self._expected[chat] = asyncio.get_running_loop().create_future()
        return self._expected[chat]

    def _told(self, sent: Sent) -> None:
        expected = self._expected.pop(sent.chat, None)
        if expected and not expected.done():
            expected.set_result(sent)

    async def wait_until(self, holds, seconds: float = 30.0) -> None:
        """`holds` is asked again after each action."""
        async with self.news:
            await asyncio.wait_for(self.news.wait_for(holds), seconds)

    async def _take(self, socket: Socket, *, sends_events: bool) -> asyncio.Task:
        self._sockets.append(socket)
        if sends_events:
            self._events.append(socket)
            await socket.send_str(json.dumps(self.meta("lifecycle", sub_type="connect")))
        task = asyncio.create_task(self._read(socket))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _read(self, socket: Socket) -> None:
        async for message in socket:
            await self.reading.wait()
            if message.type is not WSMsgType.TEXT:
                continue
            request = json.loads(message.data)
            # Each by itself: one that is slow holds up no other.
            task = asyncio.create_task(self._answer_socket(socket, request))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        for sockets in (self._sockets, self._events):
            if socket in sockets:
                sockets.remove(socket)

    async def _answer_socket(self, socket: Socket, request: dict[str, Any]) -> None:
        answer, planned = await self._perform(request["action"], request.get("params") or {})
        if planned and planned.fault in (Fault.CLOSE_AFTER, Fault.CLOSE_BEFORE):
            await socket.close()
        elif answer and not socket.closed:
            # Whatever kind of value it is, it comes back as it was.
            with contextlib.suppress(ConnectionError):
                await socket.send_str(json.dumps({**answer, "echo": request.get("echo")}))

    async def _perform(self, action: str, params: dict[str, Any]) -> tuple[dict[str, Any] | None, Planned | None]:
        self.asked.append((action, copy.deepcopy(params)))
        planned = self._fault(action)
        fault = planned.fault if planned else None
        answer: dict[str, Any] | None = None
        try:
            if planned and fault is Fault.REFUSE:
                raise Refused(planned.retcode, "refused by plan")
            data = None if fault is Fault.CLOSE_BEFORE else self.world.answer(action, params)
            answer = {"status": "ok", "retcode": OK, "data": data, "message": "", "wording": ""}
        except Refused as refused:
            words = str(refused)
            answer = {"status": "failed", "retcode": refused.retcode, "data": None, "message": words, "wording": words}
        async with self.news:
            self.news.notify_all()
        if planned and fault is Fault.LATE:
            await asyncio.sleep(planned.seconds)
        return (None if fault is Fault.SILENT else answer), planned

    async def _answer_http(self, request: web.Request) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ") or request.query.get("access_token", "")
        if self.token and given != self.token:
            return web.json_response({"message": "token verify failed"}, status=403 if given else 401)
        path = request.match_info["path"].strip("/")
        if request.headers.get("Upgrade", "").lower() == "websocket":
            socket = web.WebSocketResponse(max_msg_size=0)
            await socket.prepare(request)
            await (await self._take(socket, sends_events=path != "api"))
            return socket
        body = await request.text()
        params = json.loads(body) if body else dict(request.query)
        params.pop("access_token", None)
        answer, planned = await self._perform(path, params)
        if answer is None or (planned and planned.fault in (Fault.CLOSE_AFTER, Fault.CLOSE_BEFORE)):
            if planned and planned.fault is Fault.SILENT:
                await asyncio.Event().wait()
            if request.transport:
                request.transport.close()
            return web.Response()
        return web.json_response(answer)
