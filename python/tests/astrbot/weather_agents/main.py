"""Tools in three styles, decorated tools, an agent of agents: what AstrBot's guide to AI teaches."""

from dataclasses import dataclass as plain_dataclass
from dataclasses import field

from pydantic import Field
from pydantic.dataclasses import dataclass

from astrbot.api import logger
from astrbot.api.event import AstrMessageEvent, MessageEventResult, filter
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
    name: str = "find_videos"
    description: str = "Finds videos."
    parameters: dict = Field(default_factory=lambda: takes("keywords", "What to look for."))

    async def call(self, context: ContextWrapper[AstrAgentContext], **kwargs) -> ToolExecResult:
        return f"1. a film about {kwargs['keywords']}\nlink: xxx"


@plain_dataclass
class OldTool(FunctionTool):
    name: str = "old_tool"
    description: str = "Written for the old interface."
    parameters: dict = field(default_factory=lambda: takes("word", "Any word."))

    async def run(self, event: AstrMessageEvent, word: str):
        return {"word": word, "from": event.get_sender_id()}


@dataclass
class CityWeather(FunctionTool[AstrAgentContext]):
    name: str = "city_weather"
    description: str = "The weather of a city."
    parameters: dict = Field(default_factory=lambda: takes("city", "The city."))

    async def call(self, context: ContextWrapper[AstrAgentContext], **kwargs) -> ToolExecResult:
        return f"{kwargs['city']}: sunny, 25 degrees"


@dataclass
class Router(FunctionTool[AstrAgentContext]):
    name: str = "choose_agent"
    description: str = "Says which agent fits a task."
    parameters: dict = Field(default_factory=lambda: takes("query", "The task."))

    async def call(self, context: ContextWrapper[AstrAgentContext], **kwargs) -> ToolExecResult:
        return "The weather agent fits."


@dataclass
class WeatherAgent(FunctionTool[AstrAgentContext]):
    name: str = "weather_agent"
    description: str = "An agent that knows the weather."
    parameters: dict = Field(default_factory=lambda: takes("query", "The task."))

    async def call(self, context: ContextWrapper[AstrAgentContext], **kwargs) -> ToolExecResult:
        plugin_context, event = context.context.context, context.context.event
        logger.info("messages so far: %s", [message.role for message in context.messages])
        event.set_extra("roles", [message.role for message in context.messages])
        answer = await plugin_context.tool_loop_agent(
            event=event,
            chat_provider_id=await plugin_context.get_current_chat_provider_id(event.unified_msg_origin),
            prompt=kwargs["query"],
            tools=ToolSet([CityWeather()]),
            max_steps=30,
        )
        return answer.completion_text


class WeatherAgents(Star):
    def __init__(self, context: Context):
        super().__init__(context)
        self.context.add_llm_tools(VideoTool(), OldTool())
        self.context.provider_manager.llm_tools.func_list.append(CityWeather())

    @filter.llm_tool(name="get_weather")
    async def weather(self, event: AstrMessageEvent, location: str) -> MessageEventResult:
        """Tells the weather.

        Args:
            location(string): where
        """
        yield event.plain_result(f"{self.name}: {location} is sunny")

    @filter.llm_tool()
    async def five_types(self, event, a: str, b: float, c: dict, d: bool, e: list, f: list):
        """All the types.

        More about them.

        Args:
            a(string): text
            b(number): a number
            c(object): an object
            d(boolean): yes or no
            e(array): a list
            f(array[string]): a list of texts
        """
        return [a, b, c, d, e, f]

    @filter.llm_tool()
    async def lead_agents(self, event: AstrMessageEvent, query: str):
        """Has agents deal with a task.

        Args:
            query(string): the task
        """
        answer = await self.context.tool_loop_agent(
            event=event,
            chat_provider_id=await self.context.get_current_chat_provider_id(event.unified_msg_origin),
            prompt=query,
            tools=ToolSet([WeatherAgent()]),
        )
        return answer.completion_text

    @filter.command("ask")
    async def ask(self, event: AstrMessageEvent, question: str):
        model = await self.context.get_current_chat_provider_id(umo=event.unified_msg_origin)
        answer = await self.context.llm_generate(chat_provider_id=model, prompt=question)
        yield event.plain_result(answer.completion_text)

    @filter.command("agents")
    async def agents(self, event: AstrMessageEvent):
        answer = await self.context.tool_loop_agent(
            event=event,
            chat_provider_id=await self.context.get_current_chat_provider_id(event.unified_msg_origin),
            prompt="What is the weather in Beijing?",
            system_prompt="You lead agents. Choose one before you ask it.",
            tools=ToolSet([WeatherAgent(), Router()]),
            max_steps=30,
        )
        yield event.plain_result(f"{answer.completion_text} {event.get_extra('roles')}")
