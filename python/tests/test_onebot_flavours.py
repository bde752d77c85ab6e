"""Plugins of both flavours on OneBot, through the real binary: what they send, and whom they ask."""

import asyncio
import os
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any

from test_onebot import onebot, setUpModule  # noqa: F401

BINARY = os.environ.get("CALLGATE_BIN", "")
LONG = 120.0

ASTRBOT = """
    from astrbot.api.event import filter
    from astrbot.api.star import Context, Star
    import astrbot.api.message_components as Comp

    class Sender(Star):
        def __init__(self, context: Context) -> None:
            super().__init__(context)
            self.first = [one.meta().name for one in context.platform_manager.get_insts()]

        @filter.command("rich")
        async def rich(self, event):
            words = Comp.Node(uin=event.get_self_id(), name="A", content=[Comp.Plain("one")])
            more = Comp.Node(uin="10002", name="Bob", content=[Comp.Plain("two"), Comp.Face(id=1)])
            yield event.plain_result(str(self.first))
            for chain in (
                [Comp.At(qq=10002), Comp.Plain("hi"), Comp.Face(id=14)], [Comp.Nodes([words])], [Comp.Nodes([more])],
                [Comp.Json({"app": "x"})], [Comp.Dice()], [Comp.Share(url="https://s", title="S")],
            ):
                yield event.chain_result(chain)
"""
NEKRO = """
    from nekro_agent.api.plugin import CmdCtl, CommandPermission, NekroPlugin
    from nekro_agent.adapters.onebot_v11.core.bot import get_bot

    plugin = NekroPlugin(name="Asker", module_name="asker", description="asks", version="1.0.0", author="me", url="")

    @plugin.mount_command("owner", "Who owns the group", permission=CommandPermission.PUBLIC)
    async def owner(context):
        number = int(context.chat_key.rpartition("_")[2])
        people = await get_bot().get_group_member_list(group_id=number)
        found = [one["nickname"] for one in people if one["role"] == "owner"]
        return CmdCtl.success(f"{context.adapter_key} {found}")
"""
NOTICES = """
    from nekro_agent.api.plugin import CmdCtl, CommandPermission, NekroPlugin
    from nekro_agent.api import message as sending
    from nekro_agent.api.schemas import AgentCtx
    from nekro_agent.schemas.chat_message import ChatMessageSegmentType
    from nonebot import on_notice
    from nonebot.adapters.onebot.v11 import Bot, GroupIncreaseNoticeEvent, PokeNotifyEvent

    plugin = NekroPlugin(name="Poked", module_name="poked", description="hears", version="1.0.0", author="me", url="")

    @plugin.mount_command("ready", "Is it there?", permission=CommandPermission.PUBLIC)
    async def ready(context):
        return CmdCtl.success("ready")

    @on_notice().handle()
    async def noticed(bot: Bot, event: PokeNotifyEvent):
        if event.is_tome():
            await bot.send_group_msg(group_id=event.group_id, message=f"poked by {event.user_id}")

    @on_notice().handle()
    async def joined(bot: Bot, event: GroupIncreaseNoticeEvent):
        await bot.send(event, f"welcome {event.user_id}")

    @plugin.mount_on_user_message()
    async def heard(ctx: AgentCtx, message):
        for segment in message.content_data:
            if segment.type == ChatMessageSegmentType.POKE.value:
                await sending.send_text(ctx.chat_key, f"poke at {segment.target_id}, {message.is_tome}", ctx)
"""


@unittest.skipUnless(BINARY, "CALLGATE_BIN names the binary to test")
class Flavours(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="callgate-onebot-")))

    async def said(
        self, plugin: Path, words: str, last: str, *notices: dict[str, Any], place: str = "callgate"
    ) -> list[tuple[str, dict[str, Any]]]:
        """What the platform was made to do, up to the first action with `last` in it; notices come once the words were
        answered."""
        hour = onebot("hour")
        instance = onebot("callgate").Callgate(BINARY, self.folder / place, plugin=True)
        instance._plugin = ["--plugin", str(plugin)]
        async with instance:
            client = onebot("client").Client(hour.world(), token=instance.token)
            try:
                await client.connect(instance.url)
                group = {"message_type": "group", "sub_type": "normal", "group_id": hour.GROUP, "group_name": "Garden"}
                await client.emit(onebot("reconnect").asking(words, 1, client.world.self_id, **group))
                for notice in notices:
                    await client.wait_until(lambda: client.world.sent, LONG)
                    await client.emit({"time": 1, "self_id": client.world.self_id, "post_type": "notice", **notice})
                async with asyncio.timeout(LONG):
                    while not any(last in str(given) for _, given in client.asked):
                        await asyncio.sleep(0.1)
                return client.asked
            finally:
                await client.close()

    async def test_what_an_astrbot_plugin_sends(self) -> None:
        plugin = self.folder / "rich_sender"
        plugin.mkdir()
        (plugin / "main.py").write_text(textwrap.dedent(ASTRBOT))
        (plugin / "metadata.yaml").write_text("name: rich_sender\ndesc: sends\nversion: v1.0.0\nauthor: me\n")
        asked = [one for one in await self.said(plugin, "/rich", "https://s") if one[0].startswith("send_")]
        messages = [given["message"] for name, given in asked if name == "send_group_msg"]
        self.assertEqual(
            [[(part["type"], part["data"]) for part in message] for message in messages],
            [
                [("text", {"text": "['aiocqhttp']"})],
                [("at", {"qq": "10002"}), ("text", {"text": " "}), ("text", {"text": "hi"}), ("face", {"id": "14"})],
                [("json", {"data": '{"app": "x"}'})], [("dice", {})],
                [("share", {"url": "https://s", "title": "S", "content": "", "image": ""})],
            ],
        )  # fmt: skip
        nodes = [given["messages"][0]["data"] for name, given in asked if name == "send_group_forward_msg"]
        self.assertEqual(
            {(node["user_id"], node["nickname"], *(part["type"] for part in node["content"])) for node in nodes},
            {("10000", "A", "text"), ("10002", "Bob", "text", "face")},
        )

    async def test_whom_a_nekro_plugin_asks(self) -> None:
        plugin = self.folder / "asker.py"
        plugin.write_text(textwrap.dedent(NEKRO))
        asked = await self.said(plugin, "/owner", "onebot_v11")
        self.assertIn(("get_group_member_list", {"group_id": onebot("hour").GROUP}), asked)
        self.assertIn("onebot_v11 ['卡罗']", str(asked[-1][1]["message"]))

    async def test_what_a_nekro_plugin_hears_that_is_no_message(self) -> None:
        plugin = self.folder / "poked.py"
        plugin.write_text(textwrap.dedent(NOTICES))
        hour = onebot("hour")
        poke = {"notice_type": "notify", "sub_type": "poke", "group_id": hour.GROUP, "user_id": hour.BOB, "target_id": hour.SELF}
        join = {"notice_type": "group_increase", "sub_type": "approve", "group_id": hour.GROUP, "user_id": 77, "operator_id": 1}
        heard = (f"poked by {hour.BOB}", f"poke at {hour.SELF}, 1", "welcome 77")
        for place, notice, words in (("poke", poke, heard[:2]), ("join", join, heard[2:])):
            with self.subTest(place):
                asked = await self.said(plugin, "/ready", words[-1], notice, place=place)
                said = [str(given["message"]) for name, given in asked if name.startswith("send_")]
                self.assertEqual([any(one in message for message in said) for one in words], [True] * len(words), said)
