"""Conversations, personas, preferences, jobs and routes of AstrBot plugins (lines A-34 to A-78)."""

import ast
import asyncio
import json
import textwrap
import unittest
import uuid
from pathlib import Path

from astrbot_host import NEEDS, Stage, StepError

GARDEN = Path(__file__).parent / "astrbot" / "command_garden"
UMO = "p:GroupMessage:a:b!c"


@unittest.skipIf(NEEDS, NEEDS)
class Managers(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.stage = await self.enterAsyncContext(Stage())
        await self.stage.load(GARDEN)

    async def py(self, source: str) -> object:
        """The value of a body run in the worker, which must be JSON."""
        found = await self.stage.py(
            "cm, pm, umo = ctx.conversation_manager, ctx.persona_manager, "
            + repr(UMO)
            + "\n"
            + textwrap.dedent(source)
        )
        return json.loads(ast.literal_eval(found)) if found != "None" else None

    async def raises(self, source: str) -> str:
        with self.assertRaises(StepError) as caught:
            await self.py(source)
        return f"{caught.exception.error['type']}: {caught.exception.error['message']}"

    async def test_conversations(self) -> None:
        """A-34 to A-54."""
        first = await self.py(
            """
            from astrbot.core.conversation_mgr import Conversation
            from astrbot.core.agent.message import AssistantMessageSegment, UserMessageSegment, TextPart
            before = await cm.get_curr_conversation_id(umo)
            cid = await cm.new_conversation(umo, content=[{"role": "user", "content": "q"}], title="t", persona_id="x")
            conv = await cm.get_conversation(umo, cid)
            await asyncio.gather(*(cm.add_message_pair(cid, UserMessageSegment(content=[TextPart(text=f"u{n}")]), {"role": "assistant", "content": f"a{n}"}) for n in range(20)))
            after = json.loads((await cm.get_conversation(umo, cid)).history)
            empty = Conversation("p", "u", "c")
            return json.dumps([before, cid, await cm.get_curr_conversation_id(umo), conv.__dict__, len(after), after[1]["role"], after[2]["content"], empty.history, empty.title, empty.created_at])
            """
        )
        assert isinstance(first, list)
        before, cid, current, conversation, count, role, answer, *defaults = first
        self.assertEqual((before, current, count, role, answer), (None, cid, 41, "user", "a0"))
        self.assertEqual(str(uuid.UUID(cid)), cid)
        self.assertEqual(defaults, ["", "", 0])
        self.assertEqual(conversation["history"], '[{"role": "user", "content": "q"}]')
        self.assertEqual(
            [conversation[name] for name in ("platform_id", "user_id", "cid", "title", "persona_id")],
            ["p", UMO, cid, "t", "x"],
        )
        second = await self.py(
            """
            other = await cm.new_conversation("q:FriendMessage:1", platform_id="own")
            listed = [len(await cm.get_conversations(*a)) for a in ((umo,), (None,), (None, "own"), ("z:FriendMessage:0",))]
            cid = (await cm.get_conversations(umo))[0].cid
            await cm.update_conversation(umo, title="new")
            await cm.update_conversation(umo, cid, history=[], persona_id="[%None]", token_usage=3)
            conv = await cm.get_conversation(umo, cid)
            missing = await cm.get_conversation(umo, "nope")
            made = await cm.get_conversation(umo, "nope", create_if_not_exists=True)
            now = await cm.get_curr_conversation_id(umo)
            await cm.switch_conversation(umo, cid)
            await cm.delete_conversation(umo)
            gone = await cm.get_curr_conversation_id(umo)
            await cm.update_conversation(umo, title="nobody")
            await cm.delete_conversations_by_user_id(umo)
            return json.dumps([listed, conv.title, conv.history, conv.persona_id, missing, made.cid == now, gone, len(await cm.get_conversations(umo))])
            """
        )
        self.assertEqual(second, [[1, 2, 1, 0], "new", "[]", "[%None]", None, True, None, 0])
        self.assertEqual(
            await self.raises("await cm.add_message_pair('gone', {}, {})"),
            "Exception: Conversation with id gone not found",
        )
        readable = await self.py(
            """
            cid = await cm.new_conversation(umo, content=[{"role": "user", "content": "q1"}, {"role": "assistant", "content": "a1"}, {"role": "user", "content": "q2"}, {"role": "assistant", "content": "a2"}])
            return json.dumps(await cm.get_human_readable_context(umo, cid, page=1, page_size=2))
            """
        )
        self.assertEqual(readable, [["User: q2", "Assistant: a2"], 2])

    async def test_a_turn_is_in_the_conversation(self) -> None:
        """A-34: after one answer the current conversation holds both messages; commands are not in it."""
        await self.stage.say("/add 1")
        await self.stage.say("hello", llm=[{"text": "hi"}])
        history = await self.py(
            """
            cid = await cm.get_curr_conversation_id("test:FriendMessage:u1")
            return (await cm.get_conversation("x", cid)).history
            """
        )
        assert isinstance(history, list)
        self.assertEqual([message["role"] for message in history], ["user", "assistant"])

    async def test_personas(self) -> None:
        """A-55 to A-78."""
        made = await self.py(
            """
            from astrbot.core.persona_mgr import DEFAULT_PERSONALITY
            none = len(await pm.get_all_personas())
            cat = await pm.create_persona("cat", "meow", begin_dialogs=["hi", "yo"], tools=["t"])
            odd = await pm.create_persona("odd", "odd", begin_dialogs=["hi"])
            v3 = {p["name"]: p for p in pm.personas_v3}
            cat2 = await pm.update_persona("cat", system_prompt="purr")
            all_tools = await pm.update_persona("cat", tools=None)
            no_tools = await pm.update_persona("cat", tools=[])
            same = await pm.update_persona("cat")
            await pm.delete_persona("odd")
            return json.dumps([none, cat.persona_id, cat.tools, odd.tools, v3["cat"]["_begin_dialogs_processed"], v3["odd"]["_begin_dialogs_processed"],
                cat2.system_prompt, cat2.tools, all_tools.tools, no_tools.tools, same.system_prompt, [p["name"] for p in pm.personas_v3],
                cat2.updated_at > cat.updated_at, cat2.created_at == cat.created_at, cat.created_at.tzinfo is not None, cat.id != odd.id,
                sorted(k for k in DEFAULT_PERSONALITY if not k.startswith("_"))[:3]])
            """
        )
        dialogs = [
            {"role": "user", "content": "hi", "_no_save": True},
            {"role": "assistant", "content": "yo", "_no_save": True},
        ]
        self.assertEqual(
            made,
            [
                0,
                "cat",
                ["t"],
                None,
                dialogs,
                [],
                "purr",
                ["t"],
                None,
                [],
                "purr",
                ["cat"],
                True,
                True,
                True,
                True,
                ["begin_dialogs", "custom_error_message", "mood_imitation_dialogs"],
            ],
        )
        for source in ("get_persona('dog')", "update_persona('dog', 'x')", "delete_persona('dog')"):
            self.assertEqual(
                await self.raises(f"await pm.{source}"), "ValueError: Persona with ID dog does not exist."
            )
        self.assertEqual(
            await self.raises("await pm.create_persona('cat', 'x')"),
            "ValueError: Persona with ID cat already exists.",
        )
        await self.raises("await pm.create_persona('x' * 256, 'x')")
        self.stage.host.default_persona = {
            None: "gone",
            "p:FriendMessage:1": "cat",
            "p:FriendMessage:2": "default",
        }
        chosen = await self.py(
            """
            from astrbot.core.platform.message_session import MessageSession
            asked = [None, "p:FriendMessage:1", MessageSession.from_str("p:FriendMessage:1"), "p:FriendMessage:2"]
            return json.dumps([(await pm.get_default_persona_v3(u))["name"] for u in asked])
            """
        )
        self.assertEqual(chosen, ["default", "cat", "cat", "default"])

    async def test_preferences_and_jobs(self) -> None:
        found = await self.py(
            """
            from astrbot.api import sp
            await sp.put_async("s", "i", "k", {"a": [1]})
            sp.put("old", 5)
            await sp.session_put(umo, "x", 1)
            ran = []
            job = await ctx.cron_manager.add_basic_job(name="j", cron_expression="0 9 * * 0", handler=lambda n: ran.append(n), payload={"n": 3})
            await life.cron_manager.run_job_now(job.job_id)
            when = ctx.cron_manager.get_next_run_time(job.job_id)
            listed = len(await ctx.cron_manager.list_jobs())
            await ctx.cron_manager.delete_job(job.job_id)
            return json.dumps([await sp.get_async("s", "i", "k"), sp.get("old"), await sp.session_get(umo, "x"), (await sp.session_get(umo))[0].value,
                sp.get("none", 7), ran, when is not None, listed, len(await ctx.cron_manager.list_jobs())])
            """
        )
        self.assertEqual(found, [{"a": [1]}, 5, 1, {"val": 1}, 7, [3], True, 1, 0])

    async def test_messages_to_any_session(self) -> None:
        sent = await self.py(
            """
            from astrbot.api.event import MessageChain
            from astrbot.api.star import StarTools
            import astrbot.api.message_components as Comp
            chain = MessageChain().message("a").at("Bob", 5).url_image("https://x/y.png").base64_image("QUJD").file_image(root + "/data/config/command_garden_config.json")
            chain.chain += [Comp.Record(file="https://x/a.wav"), Comp.File(name="f.txt", url="https://x/f"), Comp.Reply(id=9), Comp.AtAll(), Comp.Face(id=1)]
            return json.dumps([await ctx.send_message(umo, chain), await StarTools.send_message(umo, MessageChain().message("b"))])
            """
        )
        self.assertEqual(sent, [True, True])
        self.assertEqual(
            self.stage.host.sent[0],
            [
                "a",
                {"type": "mention", "id": "5", "name": "Bob"},
                {"type": "image", "url": "https://x/y.png"},
                {"type": "image", "url": "data:image/png;base64,QUJD"},
                {"type": "image", "url": self.stage.host.sent[0][4]["url"]},
                {"type": "audio", "url": "https://x/a.wav"},
                {"type": "file", "name": "f.txt", "url": "https://x/f"},
                {"type": "reply", "to": "9"},
                {"type": "mention", "id": "all", "name": "all"},
                "[Face:1]",
            ],
        )
        self.assertTrue(self.stage.host.sent[0][4]["url"].startswith("data:application/json;base64,77u/"))
        self.assertIn("session", await self.raises("await ctx.send_message('nonsense', None)"))

    async def test_pictures_of_pages(self) -> None:
        """A picture is an http URL of our own file service; in a message it travels whole."""
        found = await self.py(
            """
            import httpx
            from astrbot.api.event import MessageChain
            url = await star.html_render("<p>{{ words }} <b>{{ 1 + 1 }}</b></p>", {"words": "hello"})
            path = await star.text_to_image("plain", return_url=False)
            async with httpx.AsyncClient(trust_env=False) as client:
                got, none = await client.get(url), await client.get(url.replace("file/", "file/x"))
            await ctx.send_message(umo, MessageChain().url_image(url))
            from astrbot.core.utils.t2i.plain import words_of
            return json.dumps([url.startswith("http://127.0.0.1:"), got.headers["content-type"], got.content[:4].hex(), none.status_code, open(path, "rb").read(4).hex(), words_of("<style>x</style><p>a</p>b &amp; c")])
            """
        )
        self.assertEqual(found, [True, "image/png", "89504e47", 404, "89504e47", "a\nb & c"])
        self.assertTrue(self.stage.host.sent[0][0]["url"].startswith("data:image/png;base64,iVBOR"))

    async def test_web_routes(self) -> None:
        """Quart's request and `astrbot.api.web` serve the same handlers."""
        answered = await self.py(
            """
            from quart import jsonify, request as old
            from astrbot.api.web import json_response, request
            from callgate_worker.flavours.astrbot import FLAVOUR
            async def one(id):
                return json_response({"id": id, "q": request.query.get("n", type=int), "body": await request.json(), "user": request.username})
            async def two():
                return jsonify(path=old.path, form=(await old.get_json())["x"])
            ctx.register_web_api("/garden/<id>", one, ["POST"], "one")
            ctx.register_web_api("command_garden/two", two, ["POST"], "two")
            client = FLAVOUR.web("command_garden").test_client()
            r1 = await client.post("/api/plug/garden/7?n=3", json={"x": 1}, headers={"x-callgate-user": "op"})
            r2 = await client.post("/two", json={"x": 2})
            r3 = await client.get("/api/plug/garden")
            return json.dumps([await r1.get_json(), await r2.get_json(), r3.status_code])
            """
        )
        self.assertEqual(
            answered,
            [{"id": "7", "q": 3, "body": {"x": 1}, "user": "op"}, {"path": "/two", "form": 2}, 404],
        )

    async def test_sub_agents_of_the_configuration(self) -> None:
        found = await self.py(
            """
            await pm.create_persona("chef", "You cook.", tools=["pan"])
            await ctx.subagent_orchestrator.reload_from_config({"agents": [{"name": "a", "persona_id": "chef"}, {"name": "b", "enabled": False}, {"name": "c", "system_prompt": "s", "public_description": "d", "provider_id": "stub"}]})
            return json.dumps([[h.name, h.agent.instructions, h.agent.tools, h.description, h.provider_id] for h in ctx.subagent_orchestrator.handoffs])
            """
        )
        self.assertEqual(
            found,
            [
                ["transfer_to_a", "You cook.", ["pan"], "You cook.", None],
                ["transfer_to_c", "s", [], "d", "stub"],
            ],
        )

    async def test_events_made_by_plugins(self) -> None:
        """`get_event_queue` takes live events; `StarTools.create_event` puts a message in."""
        await self.stage.say("/add 1")
        await self.py(
            """
            from astrbot.api.star import StarTools
            from astrbot.api.platform import MessageMember
            import astrbot.api.message_components as Comp
            message = await StarTools.create_message("FriendMessage", "bot0", "u9", MessageMember("u9", "Zoe"), [Comp.Plain("/add 7")], "/add 7")
            await StarTools.create_event(message, platform="test")
            """
        )
        while ["= 10"] not in self.stage.host.sent:
            await asyncio.sleep(0.01)
