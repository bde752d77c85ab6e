"""A model that writes slowly, as real ones do, by OpenAI's protocol."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

from aiohttp import web

WORDS = [f"word{number} " for number in range(12)]
SETTINGS = """
[[models.list]]
id = "slow"
base_url = "{address}/v1"
model = "slow"
wire = "openai"
"""


@contextlib.asynccontextmanager
async def slow_model(pause: float = 0.3) -> AsyncIterator[str]:
    async def complete(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        for number, word in enumerate([*WORDS, ""]):
            delta = {"content": word} if word else {}
            choice = {"index": 0, "delta": delta, "finish_reason": None if number < len(WORDS) else "stop"}
            chunk = {"id": "1", "object": "chat.completion.chunk", "model": "slow", "choices": [choice]}
            await answer.write(f"data: {json.dumps(chunk)}\n\n".encode())
            await asyncio.sleep(pause)
        await answer.write(b"data: [DONE]\n\n")
        return answer

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server
    try:
        yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
    finally:
        await runner.cleanup()
