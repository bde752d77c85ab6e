"""The last of five that change one request: counts what the others did, and fails after it."""

from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.provider import ProviderRequest
from astrbot.api.star import Star


class Auditor(Star):
    @filter.on_llm_request(priority=10)
    async def count(self, event: AstrMessageEvent, req: ProviderRequest):
        seen = [len(req.contexts), len(req.extra_user_content_parts), "measure" in req.func_tool.names()]
        req.system_prompt += f"\nSeen: {seen}"
        raise RuntimeError("what it changed counts all the same")
