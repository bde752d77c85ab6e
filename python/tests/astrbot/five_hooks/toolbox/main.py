"""The fourth of five that change one request: takes a tool away and brings one of its own."""

from astrbot.api import FunctionTool
from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.provider import ProviderRequest
from astrbot.api.star import Star


class Toolbox(Star):
    @filter.llm_tool()
    async def hammer(self, event: AstrMessageEvent):
        """Hits."""
        return "bang"

    @filter.llm_tool()
    async def saw(self, event: AstrMessageEvent):
        """Cuts."""
        return "cut"

    async def _measure(self, event: AstrMessageEvent, what: str):
        return f"{what}: 25 degrees, asked by {event.get_sender_id()}"

    @filter.on_llm_request(priority=20)
    async def choose(self, event: AstrMessageEvent, req: ProviderRequest):
        req.func_tool.remove_tool("hammer")
        parameters = {"type": "object", "properties": {"what": {"type": "string"}}}
        req.func_tool.add_tool(FunctionTool("measure", "Measures.", parameters, self._measure))
