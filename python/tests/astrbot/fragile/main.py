"""What breaks in the middle: a tool and a command that take the whole process along."""

import os

from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.message_components import Plain
from astrbot.api.star import Context, Star, register


@register("fragile", "callgate", "What breaks in the middle.", "1.0.0")
class Fragile(Star):
    def __init__(self, context: Context) -> None:
        super().__init__(context)

    @filter.llm_tool()
    async def collapse(self, event: AstrMessageEvent) -> str:
        """Takes the process along."""
        os._exit(7)

    @filter.command("collapse")
    async def collapse_now(self, event: AstrMessageEvent):
        yield event.plain_result("going")
        os._exit(7)

    @filter.regex("^vanish")
    async def vanish(self, event: AstrMessageEvent) -> None:
        """Without a word."""
        os._exit(7)

    @filter.on_decorating_result()
    async def sign(self, event: AstrMessageEvent) -> None:
        result = event.get_result()
        if result is not None and result.is_llm_result():
            result.chain.append(Plain(f" [for {event.get_sender_name()}]"))

    @filter.on_decorating_result(priority=-1)
    async def fall(self, event: AstrMessageEvent) -> None:
        """Once, while an answer is on its way out."""
        mark = os.path.join(os.getcwd(), "fallen")
        result = event.get_result()
        if result is not None and "fall" in result.get_plain_text() and not os.path.exists(mark):
            open(mark, "w").close()
            os._exit(8)
