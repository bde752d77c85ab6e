"""Every kind of command and filter."""

import os
from typing import Optional

from astrbot.api import AstrBotConfig, logger
from astrbot.api.all import *  # noqa: F403
from astrbot.api.event import AstrMessageEvent, filter
from astrbot.api.event.filter import CustomFilter
from astrbot.api.star import Context, Star, StarTools, register
from astrbot.api.util import SessionController, session_waiter
from astrbot.core.star.filter.command import GreedyStr

from .helper import shout


class Even(CustomFilter):
    def filter(self, event, cfg):
        return len(event.message_str) % 2 == 0


@register("ignored", "nobody", "metadata.yaml wins", "0")
class Garden(Star):
    def __init__(self, context: Context, config: AstrBotConfig):
        super().__init__(context, config)
        self.config = config
        self.order = []
        self.data = StarTools.get_data_dir()

    async def initialize(self):
        self.data.joinpath("started").write_text("yes")

    async def terminate(self):
        self.data.joinpath("ended").write_text("yes")

    @filter.command("add", alias={"plus", "sum"})
    async def add(self, event: AstrMessageEvent, a: int, b: int = 3):
        """Adds."""
        yield event.plain_result(shout(f"{a + b}"))

    @filter.command("types")
    async def types(
        self, event: AstrMessageEvent, f: float, yes: bool = True, opt: Optional[int] = None, name: str = "x"
    ):
        yield event.plain_result(repr((f, yes, opt, name)))

    @filter.command("say")
    async def say(self, event: AstrMessageEvent, first: str, rest: GreedyStr):
        return event.plain_result(f"{first}|{rest}")

    @filter.command("steps")
    async def steps(self, event: AstrMessageEvent):
        for number in (1, 2):
            yield event.plain_result(f"step {number}")
            self.order.append(number)
        await event.send(MessageChain().message(f"after {self.order}"))  # noqa: F405

    @filter.command("boom")
    async def boom(self, event: AstrMessageEvent):
        raise ValueError("broken")

    @filter.permission_type(filter.PermissionType.ADMIN)
    @filter.command("admin")
    async def admin(self, event: AstrMessageEvent):
        yield event.plain_result("yes sir")

    @filter.command_group("math", alias={"m"})
    def math(self):
        pass

    @math.command("double", alias={"d"})
    async def double(self, event: AstrMessageEvent, n: int):
        """Twice."""
        yield event.plain_result(str(n * 2))

    @math.group("deep")
    def deep(self):
        pass

    @deep.command("zero")
    async def zero(self, event: AstrMessageEvent):
        yield event.plain_result("0")

    @filter.regex(r"^\d{3}$")
    async def three_digits(self, event: AstrMessageEvent):
        yield event.plain_result("three digits").stop_event()

    @filter.custom_filter(Even, False)
    @filter.command("even")
    async def even(self, event: AstrMessageEvent):
        yield event.plain_result("even")

    @filter.event_message_type(filter.EventMessageType.GROUP_MESSAGE, priority=5)
    async def in_groups(self, event: AstrMessageEvent):
        if event.message_str == "psst":
            event.stop_event()
        if event.message_str == "hush":
            event.should_call_llm(True)

    @filter.command("wait")
    async def wait(self, event: AstrMessageEvent):
        yield event.plain_result("your name?")

        @session_waiter(timeout=5)
        async def answered(controller: SessionController, later: AstrMessageEvent):
            if later.message_str == "again":
                await later.send(MessageChain().message("well?"))  # noqa: F405
                controller.keep(timeout=5, reset_timeout=True)
                return
            await later.send(later.plain_result(f"hi {later.message_str}"))
            controller.stop()

        try:
            await answered(event)
        except TimeoutError as error:
            yield event.plain_result(str(error))
        yield event.plain_result("bye")
        event.stop_event()

    @filter.command("ask")
    async def ask(self, event: AstrMessageEvent):
        yield event.request_llm(prompt="say something", system_prompt="be brief")

    @filter.command("model")
    async def model(self, event: AstrMessageEvent):
        """A name that the host has a command of, too."""
        event.stop_event()
        yield event.plain_result("any model will do")

    @filter.command("cfg")
    async def cfg(self, event: AstrMessageEvent):
        self.config["greeting"] = "bye"
        self.config.save_config()
        await self.put_kv_data("k", {"n": 1})
        yield event.plain_result(
            f"{self.config.limits['times']} {self.config.nothing} {await self.get_kv_data('k', None)} "
            f"{self.plugin_id} {os.path.isdir('data/plugins')} {json.dumps([1])}"  # noqa: F405
        )
        logger.info("configuration shown")
