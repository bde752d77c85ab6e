"""An AstrBot plugin for the page's tests: a tool that answers by its settings."""

from astrbot.api import AstrBotConfig
from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.star import Context, Star


class Weather(Star):
    def __init__(self, context: Context, config: AstrBotConfig):
        super().__init__(context)
        self.config = config

    @filter.llm_tool(name="look_up")
    async def look_up(self, event: AstrMessageEvent, city: str) -> str:
        """The weather of a city.

        Args:
            city(string): Which one.
        """
        return f"{city}: {self.config['sky']}, {self.config['station']['height']} metres"
