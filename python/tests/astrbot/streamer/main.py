"""Says things piece by piece, and has hooks on what the model says."""

import asyncio

from astrbot.api.event import AstrMessageEvent, MessageChain, filter
from astrbot.api.message_components import Plain
from astrbot.api.provider import LLMResponse
from astrbot.api.star import Context, Star
from callgate_worker import host


class Streamer(Star):
    def __init__(self, context: Context):
        super().__init__(context)
        self._told_to_go_on = asyncio.Event()

    @filter.command("count")
    async def count(self, event: AstrMessageEvent):
        """Begins a message, ends it when somebody says /go, and says another."""
        self._told_to_go_on.clear()
        await event.send_streaming(self._counted())

    async def _counted(self):
        yield MessageChain().message("one ")
        await self._told_to_go_on.wait()
        yield MessageChain().message("two")
        yield MessageChain(type="break")
        yield MessageChain().message("three")

    @filter.command("go")
    async def go(self, event: AstrMessageEvent):
        self._told_to_go_on.set()
        event.stop_event()

    @filter.command("meddle")
    async def meddle(self, event: AstrMessageEvent, row: int):
        """Says what the host has against it to name a message of another chat."""
        refusals = []
        for asked in (host.call("turn_run", row=row), host.call("message_piece", row=row, text="forged")):
            try:
                await asked
            except host.HostError as error:
                refusals.append(str(error))
        yield event.plain_result(" / ".join(refusals))

    @filter.on_llm_response()
    async def shout(self, event: AstrMessageEvent, response: LLMResponse):
        response.completion_text = response.completion_text.replace("tea", "TEA")

    @filter.on_decorating_result()
    async def sign(self, event: AstrMessageEvent):
        event.get_result().chain.append(Plain(" [signed]"))
