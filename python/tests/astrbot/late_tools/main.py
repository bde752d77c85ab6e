"""Tools that come and go while the plugin runs: in a command, in the very message that uses them, in a hook, and
for one answer alone."""

from pydantic import Field
from pydantic.dataclasses import dataclass

from astrbot.api import FunctionTool
from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.provider import ProviderRequest
from astrbot.api.star import Star

NOTHING = {"type": "object", "properties": {}}


@dataclass
class Appended(FunctionTool):
    name: str = "appended"
    description: str = "Came by way of the list."
    parameters: dict = Field(default_factory=lambda: dict(NOTHING))

    async def call(self, context, **kwargs):
        return f"appended for {context.context.event.get_sender_id()}"


class LateTools(Star):
    def _bring(self, name: str) -> None:
        async def handler(event: AstrMessageEvent):
            return f"{name} for {event.get_sender_id()}"

        self.context.add_llm_tools(FunctionTool(name, f"{name}, late.", dict(NOTHING), handler))

    @filter.command("learn")
    async def learn(self, event: AstrMessageEvent):
        self._bring("learned")
        self.context.get_llm_tool_manager().func_list.append(Appended())
        yield event.plain_result("now I know")

    @filter.command("forget")
    async def forget(self, event: AstrMessageEvent):
        self.context.unregister_llm_tool("learned")
        yield event.plain_result("now I do not")

    @filter.regex("^at once")
    async def at_once(self, event: AstrMessageEvent):
        self._bring("at_once")

    @filter.on_llm_request()
    async def while_asked(self, event: AstrMessageEvent, req: ProviderRequest):
        if "in a hook" in req.prompt:
            # From the next request on: this one has its tools.
            self._bring("hooked")
        if "without" in req.prompt:
            req.func_tool.remove_tool("appended")
