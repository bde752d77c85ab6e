"""Asks a model by its provider's address and key, the way plugins with a client of their own do."""

import asyncio
import json
from urllib.request import Request, urlopen

from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.star import Context, Star


class Gateway(Star):
    def __init__(self, context: Context) -> None:
        super().__init__(context)

    @filter.llm_tool(name="ask_provider")
    async def ask_provider(self, event: AstrMessageEvent, text: str) -> str:
        """Asks the provider's model.

        Args:
            text(string): The question.
        """
        provider = self.context.get_using_provider()
        base, key = provider.provider_config["api_base"], provider.get_current_key()
        body = {"model": provider.get_model(), "messages": [{"role": "user", "content": text}]}
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        request = Request(f"{base}/chat/completions", json.dumps(body).encode(), headers)
        with await asyncio.to_thread(urlopen, request) as answer:
            said = json.load(answer)
        return said["choices"][0]["message"]["content"]
