"""The first of five that change one request: says how to answer."""

from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.provider import ProviderRequest
from astrbot.api.star import Star


class Manners(Star):
    @filter.on_llm_request(priority=50)
    async def ask_for_manners(self, event: AstrMessageEvent, req: ProviderRequest):
        req.system_prompt += "\nBe polite."
