"""Plugins of both flavours on Telegram, through the real binary: what they see, what they send, and whom they ask."""

import json
import textwrap
import unittest
from pathlib import Path

from test_telegram import LONG, Telegram, setUpModule, telegram  # noqa: F401

ANN = 1001
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))

ASTRBOT = """
    import base64, json
    from telegram import InlineKeyboardButton, InlineKeyboardMarkup, Update
    from telegram.error import BadRequest
    from telegram.ext import ExtBot
    from astrbot.api.event import filter
    from astrbot.api.star import Context, Star
    import astrbot.api.message_components as Comp
    from astrbot.core.platform.sources.telegram.tg_event import TelegramPlatformEvent

    PICTURE = base64.b64decode("@PNG@")

    class Sender(Star):
        def __init__(self, context: Context) -> None:
            super().__init__(context)

        @filter.command("look")
        async def look(self, event):
            '''Looks at what came'''
            raw = event.message_obj.raw_message
            seen = {
                "classes": [isinstance(event, TelegramPlatformEvent), isinstance(event.client, ExtBot), isinstance(raw, Update)],
                "platform": [event.get_platform_name(), event.get_platform_id(), hasattr(event, "bot")],
                "ids": [event.get_self_id(), event.get_sender_id(), event.session_id, event.get_group_id()],
                "raw": [raw.message.chat.id, raw.effective_user.first_name, raw.message.text],
                "client": [event.client.username, event.client.id, event.message_obj.group.group_name],
            }
            yield event.plain_result(json.dumps(seen))

        @filter.command("act")
        async def act(self, event):
            chat = event.message_obj.raw_message.message.chat.id
            buttons = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="y")]])
            sent = await event.client.send_message(chat_id=chat, text="choose", reply_markup=buttons)
            await event.client.send_photo(chat_id=chat, photo=PICTURE, caption="by hand")
            await event.react("👍")
            file = await event.client.get_file("file-2")
            got = bytes(await file.download_as_bytearray())
            try:
                await event.client.send_message(chat_id=12345, text="to nobody")
            except BadRequest as error:
                refused = error.message
            try:
                await event.client.get_updates()
            except BadRequest as error:
                kept = error.message
            words = json.dumps([sent.message_id > 0, got == PICTURE, refused, kept])
            yield event.chain_result([Comp.Plain(words), Comp.Image.fromBytes(PICTURE)])
"""
NEKRO = """
    from nekro_agent.api.plugin import CmdCtl, CommandPermission, NekroPlugin

    plugin = NekroPlugin(name="Asker", module_name="asker", description="asks", version="1.0.0", author="me", url="")

    @plugin.mount_command("where", "Where are we", permission=CommandPermission.PUBLIC)
    async def where(context):
        return CmdCtl.success(f"{context.adapter_key} {context.chat_key}")
"""


class Flavours(Telegram):
    def plugin(self, name: str, text: str) -> Path:
        import base64

        folder = self.folder / name
        folder.mkdir()
        text = textwrap.dedent(text).replace("@PNG@", base64.b64encode(PNG).decode())
        if name == "nekro":
            (folder / "__init__.py").write_text(text)
        else:
            (folder / "main.py").write_text(text)
            (folder / "metadata.yaml").write_text("name: sender\ndesc: sends\nversion: v1.0.0\nauthor: me\n")
        return folder

    async def ready(self, command: str) -> None:
        """Plugins are there when their commands are in the menu."""
        names = lambda: [one["command"] for one in self.world.commands or []]  # noqa: E731
        await self.world.until(lambda: command in names(), LONG)

    async def test_astrbot_plugins_find_telegram_as_they_know_it(self) -> None:
        world, known = self.world, telegram("world")
        world.photo(PNG)
        async with self.server.serve() as address:
            instance = self.callgate().with_plugin(self.plugin("astrbot", ASTRBOT))
            await instance.start(address)
            await self.ready("look")
            await world.say("/look@gate_test_bot", chat=known.GROUP["id"])
            await world.until(lambda: world.texts(known.GROUP["id"]), LONG)
            seen = json.loads(world.texts(known.GROUP["id"])[0])
            group = str(known.GROUP["id"])
            self.assertEqual(seen, {
                "classes": [True, True, True], "platform": ["telegram", "tg", False],
                "ids": ["gate_test_bot", "1001", group, group], "raw": [known.GROUP["id"], "Ann", "/look@gate_test_bot"],
                "client": ["gate_test_bot", 4242, "Town"],
            })  # fmt: skip
            said = await world.say("/act")
            await world.until(lambda: len([one for one in world.sent if one.chat == ANN]) >= 3, LONG)
        methods = [one.method for one in world.sent if one.chat == ANN]
        self.assertEqual(methods, ["sendMessage", "sendPhoto", "sendPhoto"])
        choose, by_hand, chain = (one for one in world.sent if one.chat == ANN)
        self.assertEqual((by_hand.bytes, by_hand.text, chain.bytes), (PNG, "by hand", PNG))
        sent, got, refused, kept = json.loads(chain.text)
        self.assertTrue(sent and got)
        self.assertEqual(refused, "Chat not found")
        self.assertIn("Callgate's own", kept)
        asked = [given for method, given in self.server.asked if method == "sendMessage" and given["chat_id"] == ANN]
        self.assertEqual(asked[0]["reply_markup"]["inline_keyboard"][0][0]["callback_data"], "y")
        self.assertEqual(world.done[0][1]["message_id"], said["message_id"])

    async def test_nekro_plugins_know_it_by_its_key(self) -> None:
        async with self.server.serve() as address:
            instance = self.callgate().with_plugin(self.plugin("nekro", NEKRO))
            await instance.start(address)
            await self.ready("where")
            await self.world.say("/where")
            await self.world.until(lambda: self.world.texts(ANN), LONG)
        self.assertIn(f"telegram tg-private_{ANN}", self.world.texts(ANN)[0])


if __name__ == "__main__":
    unittest.main()
