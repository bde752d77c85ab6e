"""What the server under test talks to, on one port of loopback: the model, as OpenAI's API, and the
suite's functions, as MCP over streamable HTTP with plain JSON answers. Nothing here decides anything."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from obedient import Obedient
from suites import TaskSuite
from world import tools

SERVER = "dojo"


class Peers:
    """`now` is the run that both sides belong to: one at a time."""

    def __init__(self, suite: TaskSuite, declared: bool) -> None:
        self.tools = tools(suite, declared)
        self.now: Obedient | None = None
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def run(self) -> Obedient:
        if self.now is None:
            raise RuntimeError("nothing runs")
        return self.now

    def complete(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The next message of the model."""
        results = []
        for message in reversed(asked["messages"]):
            if message["role"] != "tool":
                break
            results.append(_text(message["content"]))
        step = self.run().next(results)
        if isinstance(step, str):
            return {"role": "assistant", "content": step}
        # Not by its bare name, which may be a built-in method's.
        function = {"name": f"mcp_{SERVER}__{step.function}", "arguments": json.dumps(dict(step.args))}
        call = {"index": 0, "id": f"call_{len(asked['messages'])}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def answer(self, asked: dict[str, Any]) -> dict[str, Any] | None:
        """One message of MCP; notifications get no answer."""
        if "id" not in asked:
            return None
        return {"jsonrpc": "2.0", "id": asked["id"], **self._result(asked["method"], asked.get("params") or {})}

    def _result(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            offers = {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}}
            return {"result": {**offers, "serverInfo": {"name": SERVER, "version": "1"}}}
        if method == "tools/list":
            return {"result": {"tools": self.tools}}
        if method == "tools/call":
            text, failed = self.run().world.call(given["name"], given.get("arguments") or {})
            return {"result": {"content": [{"type": "text", "text": text}], "isError": failed}}
        if method == "ping":
            return {"result": {}}
        return {"error": {"code": -32601, "message": f"no method {method}"}}


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _handler(peers: Peers) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body are written apart; they must not wait for each other.
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/mcp":
                answer = peers.answer(asked)
                self._send(202, "application/json") if answer is None else self._send(200, "application/json", answer)
            elif asked.get("stream"):
                self._stream(asked, peers.complete(asked))
            else:
                choice = {"index": 0, "message": peers.complete(asked), "finish_reason": "stop"}
                self._send(200, "application/json", {"id": "1", "object": "chat.completion", "choices": [choice]})

        def do_GET(self) -> None:
            self._send(405, "text/plain")

        do_DELETE = do_GET

        def _stream(self, asked: dict[str, Any], message: dict[str, Any]) -> None:
            ended = "tool_calls" if message.get("tool_calls") else "stop"
            chunk = {"id": "1", "object": "chat.completion.chunk", "model": asked["model"]}
            pieces = [{"delta": message, "finish_reason": None}, {"delta": {}, "finish_reason": ended}]
            lines = [json.dumps({**chunk, "choices": [{"index": 0, **piece}]}) for piece in pieces]
            self._send(200, "text/event-stream", "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]))

        def _send(self, status: int, kind: str, body: Any = "") -> None:
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
