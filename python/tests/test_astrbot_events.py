"""Commands, filters, yields and waiting: how an event goes through AstrBot plugins."""

import asyncio
import unittest
from pathlib import Path

from astrbot_host import Stage
from test_astrbot_ai import Written

GARDEN = Path(__file__).parent / "astrbot" / "command_garden"


class Events(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.stage = await self.enterAsyncContext(Stage())
        await self.stage.load(GARDEN)

    async def said(self, text: str, *wanted: str, **more: object) -> None:
        sent = await asyncio.wait_for(self.stage.say(text, **more), 20)
        self.assertEqual(sent, [[line] for line in wanted], text)

    async def test_commands(self) -> None:
        """Prefix, aliases, typed arguments, defaults, and upstream's texts for what is wrong."""
        await self.said("/add 2", "= 5")
        await self.said("/plus 2 40", "= 42")
        await self.said("add 1 1", "= 2")
        await self.said("/add", "command_garden: something is missing. The command takes: a(int),b(int)=3")
        await self.said("/add x", "command_garden: what you gave for 'a' does not fit. The command takes: a(int),b(int)=3")
        await self.said("/types 1.5 no 7 bob", "(1.5, False, 7, 'bob')")
        await self.said("/types 2", "(2.0, True, None, 'x')")
        await self.said(
            "/types 2 maybe",
            "command_garden: what you gave for 'yes' does not fit. The command takes: "
            "f(float),yes(bool)=True,opt(NoneType)=None,name(str)=x",
        )
        await self.said("/say a b  c", "a|b c")
        await self.said("/even", "even")
        await self.said("/even x", "even")
        await self.said("/even xy", "model", llm=[{"text": "model"}])

    async def test_yields_are_an_onion(self) -> None:
        """A result is delivered before the code after its yield runs."""
        await self.said("/steps", "step 1", "step 2", "after [1, 2]")

    async def test_groups(self) -> None:
        tree = "math\n├── double (n(int)): Twice.\n├── deep\n│   ├── zero (takes nothing)\n"
        await self.said("/math", f"command_garden: 'math' needs one of these after it:\n{tree}")
        await self.said("/math double 4", "8")
        await self.said("/m d 4", "8")
        await self.said("/math deep zero", "0")
        await self.said("/math nothing", "model", llm=[{"text": "model"}])

    async def test_permissions_and_errors(self) -> None:
        await self.said("/admin", "yes sir", user="admin1")
        refused = (
            "This command is for administrators. Whoever runs this server can make you one: your account for "
            "agent.administrators is {}"
        )
        await self.said("/admin", refused.format("test:u1"))
        # The same account on another platform is somebody else: the host says who is an administrator.
        await self.said("/admin", refused.format("test:admin1"), user="admin1", role="user")
        await self.said("/boom", "command_garden could not finish: broken (in boom)")

    async def test_people_are_answered_in_their_language(self) -> None:
        """That of the message: not of the plugin, nor of who wrote before."""
        for word, told in (
            ("x", "command_garden: what you gave for 'a' does not fit. The command takes: a(int),b(int)=3"),
            ("三", "command_garden：“a”填得不合适。这条命令需要：a(int),b(int)=3"),
            ("さん三", "command_garden: what you gave for 'a' does not fit. The command takes: a(int),b(int)=3"),
        ):
            await self.said(f"/add {word}", told)

    async def test_stopping(self) -> None:
        """A stopped event goes no further; `should_call_llm(True)` keeps the model out."""
        await self.said("321", "three digits")  # the event is stopped, its result is said
        await self.said("psst", group="g1")
        self.assertEqual(self.stage.verdict, {"verdict": "taken", "stopped": True})
        await self.said("hello there", group="g1")
        self.assertEqual(self.stage.verdict["verdict"], "pass")
        await self.said("/hush", group="g1")
        asked = self.stage.message("by the way", group="g1")
        asked["facts"]["wanted"] = True
        self.stage.host.script[:] = [{"text": "since you ask"}]
        await self.stage.rig.step("event", **asked)
        self.assertEqual(self.stage.host.sent, [["since you ask"]])
        await self.said("/hello", "model", group="g1", llm=[{"text": "model"}])

    async def test_waiting_for_the_next_message(self) -> None:
        """While a handler waits, others talk; the awaited message goes to it alone."""
        waiting = asyncio.create_task(self.stage.rig.step("event", **self.stage.message("/wait")))
        while not self.stage.host.sent:
            await asyncio.sleep(0.01)
        await self.said("/add 1", "= 4", user="u2")
        await self.said("again", "well?")
        await self.said("Bob", "hi Bob")
        await asyncio.wait_for(waiting, 10)
        self.assertEqual(self.stage.host.sent, [["hi Bob"], ["bye"]])
        self.assertEqual(self.stage.host.asked, [])

    async def test_asking_the_model_in_the_middle(self) -> None:
        await self.said("/ask", "something", llm=[{"text": "something"}])
        asked = self.stage.host.asked[0]["messages"]
        self.assertEqual(asked[0], {"role": "system", "content": "be brief"})
        self.assertEqual(asked[-1], {"role": "user", "content": [{"type": "text", "text": "say something"}]})

    async def test_configuration_and_data(self) -> None:
        root = self.stage.rig.root
        file = root / "data/config/command_garden_config.json"
        await self.said("/cfg", "3 None {'n': 1} callgate/command_garden True [1]")
        self.assertTrue(file.read_bytes().startswith(b"\xef\xbb\xbf"))
        self.assertIn('"greeting": "bye"', file.read_text("utf-8-sig"))
        self.assertTrue((root / "data/plugin_data/command_garden/started").exists())
        changed = await self.stage.rig.step("config_set", plugin="command_garden", values={"flag": True})
        self.assertIs(changed["values"]["flag"], True)
        await self.stage.rig.step("unload", plugin="command_garden")
        self.assertTrue((root / "data/plugin_data/command_garden/ended").exists())
        file.write_text(
            '{"greeting": null, "unknown": 1, "open": {"kept": 1}, "limits": {"times": 9}}', "utf-8-sig"
        )
        config = (await self.stage.load(GARDEN))["config"]["values"]
        self.assertEqual(config["greeting"], "hello")
        self.assertEqual(config["limits"], {"times": 9, "names": ["a"]})
        self.assertEqual((config["open"], "unknown" in config), ({"kept": 1}, False))


class Elsewhere(Written):
    """Plugins made for QQ, on a platform that is not QQ."""

    async def said(self, text: str) -> str:
        return "".join(str(part) for message in await self.stage.say(text) for part in message)

    async def test_those_that_ask_take_their_other_way(self) -> None:
        body = """
            from astrbot.core.platform.sources.aiocqhttp.aiocqhttp_message_event import AiocqhttpMessageEvent
            @filter.platform_adapter_type(filter.PlatformAdapterType.AIOCQHTTP)
            @filter.event_message_type(filter.EventMessageType.ALL)
            async def only_there(self, event):
                yield event.plain_result("never")
            @filter.command("where")
            async def where(self, event):
                raw = event.message_obj.raw_message
                seen = [
                    hasattr(event, "bot"), getattr(event, "bot", None), isinstance(event, self.AiocqhttpMessageEvent),
                    event.get_platform_name(), bool(raw), raw.get("post_type"), "message" in raw, isinstance(raw, dict),
                    getattr(raw, "message", None), hasattr(raw, "sender"),
                    self.context.get_platform(filter.PlatformAdapterType.AIOCQHTTP),
                    hasattr(self.context.get_platform_inst("test"), "bot"),
                ]
                yield event.plain_result(str(seen))
        """
        await self.stage.load(self.write(body))
        self.assertEqual(
            await self.said("/where"),
            "[False, None, False, 'test', False, None, False, True, None, False, None, False]",
        )

    async def test_those_that_do_not_are_told_what_is_missing(self) -> None:
        body = """
            @filter.command("client")
            async def client(self, event):
                await event.bot.api.call_action("send_poke", user_id=1)
            @filter.command("platform")
            async def platform(self, event):
                self.context.get_platform_inst("test").client.get_me()
            @filter.command("word")
            async def word(self, event):
                yield event.plain_result(event.message_obj.raw_message["sender"]["role"])
            @filter.command("attribute")
            async def attribute(self, event):
                yield event.plain_result(event.message_obj.raw_message.message)
            @filter.command("asserted")
            async def asserted(self, event):
                from astrbot.core.platform.sources.aiocqhttp.aiocqhttp_message_event import AiocqhttpMessageEvent
                assert isinstance(event, AiocqhttpMessageEvent)
            @filter.command("misspelt")
            async def misspelt(self, event):
                event.message_string
        """
        await self.stage.load(self.write(body))
        for command, words in {
            "client": ["`bot`", "aiocqhttp", "this is test"],
            "platform": ["`client`", "this is test"],
            "word": ["raw_message has no 'sender'", "this is test"],
            "attribute": ["raw_message has no 'message'", "aiocqhttp"],
            "asserted": ["AssertionError"],
            "misspelt": ["'AstrMessageEvent' object has no attribute 'message_string'"],
        }.items():
            told = await self.said(f"/{command}")
            for word in words:
                self.assertIn(word, told)
