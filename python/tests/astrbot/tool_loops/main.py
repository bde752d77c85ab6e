"""Tools registered by object and by docstring, and agents that loop over a set of their own: to the end, to the last
step allowed, and past a tool that takes too long."""

import asyncio
import json

from pydantic import Field
from pydantic.dataclasses import dataclass

from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.star import Context, Star
from astrbot.core.agent.run_context import ContextWrapper
from astrbot.core.agent.tool import FunctionTool, ToolExecResult, ToolSet
from astrbot.core.astr_agent_context import AstrAgentContext


def takes(name: str, text: str) -> dict:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": text}},
        "required": [name],
    }


@dataclass
class VideoTool(FunctionTool[AstrAgentContext]):
    name: str = "bilibili_videos"
    description: str = "Finds videos."
    parameters: dict = Field(default_factory=lambda: takes("keywords", "What to look for."))

    async def call(self, context: ContextWrapper[AstrAgentContext], **kwargs) -> ToolExecResult:
        return f"1. a film about {kwargs['keywords']}\nlink: xxx"


@dataclass
class Draft(FunctionTool[AstrAgentContext]):
    """Replaced before anybody calls it."""

    name: str = "second_tool"
    description: str = "The draft."
    parameters: dict = Field(default_factory=lambda: takes("word", "Any word."))

    async def call(self, context: ContextWrapper[AstrAgentContext], **kwargs) -> ToolExecResult:
        return "from the draft"


@dataclass
class Final(Draft):
    description: str = "The final one."

    async def call(self, context: ContextWrapper[AstrAgentContext], **kwargs) -> ToolExecResult:
        return f"from the final one: {kwargs['word']}"


@dataclass
class Assign(FunctionTool[AstrAgentContext]):
    name: str = "assign_agent"
    description: str = "Says which agent fits a task."
    parameters: dict = Field(default_factory=lambda: takes("query", "The task."))

    async def call(self, context: ContextWrapper[AstrAgentContext], **kwargs) -> ToolExecResult:
        return f"agent 1 fits: {kwargs['query']}"


@dataclass
class FirstAgent(Assign):
    name: str = "subagent1_name"
    description: str = "The first agent."

    async def call(self, context: ContextWrapper[AstrAgentContext], **kwargs) -> ToolExecResult:
        return f"the first agent did it: {kwargs['query']}"


@dataclass
class SecondAgent(Assign):
    name: str = "subagent2_name"
    description: str = "The second agent."

    async def call(self, context: ContextWrapper[AstrAgentContext], **kwargs) -> ToolExecResult:
        return "the second agent does nothing"


@dataclass
class Sleeper(FunctionTool[AstrAgentContext]):
    name: str = "t"
    description: str = "Takes longer than it may."
    parameters: dict = Field(default_factory=lambda: {"type": "object", "properties": {}})

    async def call(self, context: ContextWrapper[AstrAgentContext], **kwargs) -> ToolExecResult:
        await asyncio.sleep(60)
        return "too late"


class ToolLoops(Star):
    def __init__(self, context: Context):
        super().__init__(context)
        self.context.add_llm_tools(VideoTool(), Draft())
        self.context.add_llm_tools(Final())

    @filter.llm_tool()
    async def five_types(
        self, event, text: str, amount: float, record: dict, sure: bool, items: list, names: list
    ):
        """All the types.

        More about them.

        Args:
            text(string): a text
            amount(number): a number
            record(object): an object
            sure(boolean): yes or no
            items(array): a list
            names(array[string]): a list of texts
        """
        return json.dumps([text, amount, record, sure, items, names])

    @filter.llm_tool(name="get_weather")
    async def weather_of(self, event: AstrMessageEvent, location: str):
        """Tells the weather.

        Args:
            location(string): where
        """
        return f"sunny in {location}"

    @filter.command("wrong")
    async def wrong(self, event: AstrMessageEvent):
        """Parameters that are no JSON Schema are refused where the tool is made."""
        try:
            FunctionTool(name="wrong", description="", parameters={"type": "no such type"})
            yield event.plain_result("made")
        except Exception as error:
            yield event.plain_result(f"refused: {type(error).__name__}")

    @filter.command("loop")
    async def loop(self, event: AstrMessageEvent, max_steps: int):
        """The guide's main agent and its three tools."""
        async for result in self._loop(
            event, ToolSet([FirstAgent(), SecondAgent(), Assign()]), max_steps=max_steps
        ):
            yield result

    @filter.command("impatient")
    async def impatient(self, event: AstrMessageEvent):
        tools = ToolSet([Sleeper(), Assign()])
        async for result in self._loop(event, tools, max_steps=5, tool_call_timeout=1):
            yield result

    async def _loop(self, event: AstrMessageEvent, tools: ToolSet, **limits):
        answer = await self.context.tool_loop_agent(
            event=event,
            chat_provider_id=await self.context.get_current_chat_provider_id(event.unified_msg_origin),
            prompt="the task",
            system_prompt="You are the main agent.",
            tools=tools,
            **limits,
        )
        yield event.plain_result(f"{answer.role}: {answer.completion_text}")
