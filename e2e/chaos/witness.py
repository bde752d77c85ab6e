"""The witness: an MCP server whose tools do nothing but count. What it saw twice was done twice."""

from collections import Counter
from typing import Any

from . import words
from .web import Answer, Request, Server

_TOOLS = [
    {
        "name": name,
        "description": "Has an effect that cannot be undone.",
        "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    }
    for name in (words.EFFECT, words.GUARDED)
]


class Witness:
    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.server = Server(self._answer)

    def configuration(self) -> str:
        return f'[[mcp]]\nname = "witness"\nurl = "http://127.0.0.1:{self.server.port}/mcp"\n'

    async def _answer(self, request: Request) -> Answer:
        if request.verb != "POST":
            return Answer(status=405)
        message = request.body or {}
        if "id" not in message:
            return Answer(status=202)
        result = self._result(message["method"], message.get("params") or {})
        return Answer({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "initialize":
                server = {"name": "witness", "version": "1"}
                version = params.get("protocolVersion", "2025-06-18")
                return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
            case "tools/list":
                return {"tools": _TOOLS}
            case "tools/call":
                self.seen[params["arguments"]["id"]] += 1
                return {"content": [{"type": "text", "text": "done"}]}
            case _:
                return {}
