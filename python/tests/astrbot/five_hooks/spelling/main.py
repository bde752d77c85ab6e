"""The second of five that change one request: corrects what was said."""

from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.provider import ProviderRequest
from astrbot.api.star import Star


class Spelling(Star):
    @filter.on_llm_request(priority=40)
    async def correct(self, event: AstrMessageEvent, req: ProviderRequest):
        req.prompt = req.prompt.replace("teh", "the")
