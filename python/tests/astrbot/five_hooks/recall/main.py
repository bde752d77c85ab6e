"""The third of five that change one request: remembers what fits, for this answer alone."""

from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.provider import ProviderRequest
from astrbot.api.star import Star
from astrbot.core.agent.message import TextPart


class Recall(Star):
    @filter.on_llm_request(priority=30)
    async def remember(self, event: AstrMessageEvent, req: ProviderRequest):
        req.contexts.insert(0, {"role": "user", "content": "I live in Oslo."})
        req.contexts.insert(1, {"role": "assistant", "content": "Noted."})
        # It sees what those before it made of the message.
        about = "the" if "the weather" in req.prompt else "teh"
        req.extra_user_content_parts.append(TextPart(text=f"<about {about} weather>").mark_as_temp())
        req.extra_user_content_parts.append(TextPart(text="<said in a hurry>"))
