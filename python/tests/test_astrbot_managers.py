"""Conversations, personas, preferences, jobs and routes of AstrBot plugins (lines A-34 to A-78)."""

import ast
import asyncio
import json
import textwrap
import unittest
import uuid
from pathlib import Path

from astrbot_host import Stage, StepError

GARDEN = Path(__file__).parent / "astrbot" / "command_garden"
UMO = "p:GroupMessage:a:b!c"


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
            return json.dumps([before, cid, await cm.get_curr_conversation_id(umo), conv.__dict__, len(after), after[1]["role"], after[2]["content"], empty.history, empty.title, empty.persona_id, empty.created_at, empty.updated_at, conv.updated_at >= conv.created_at > 0])
            """
        )
        assert isinstance(first, list)
        before, cid, current, conversation, count, role, answer, *defaults = first
        self.assertEqual((before, current, count, role, answer), (None, cid, 41, "user", "a0"))
        self.assertEqual(str(uuid.UUID(cid)), cid)
        self.assertEqual(defaults, ["", "", "", 0, 0, True])
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
            "Exception: there is no conversation 'gone'",
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
            read = await pm.get_persona("cat")
            old = [v3["cat"][key] for key in ("prompt", "name", "begin_dialogs", "mood_imitation_dialogs", "tools")]
            same_fields = vars(read) == vars(cat) and old == ["meow", "cat", ["hi", "yo"], [], ["t"]]
            cat2 = await pm.update_persona("cat", system_prompt="purr")
            all_tools = await pm.update_persona("cat", tools=None)
            no_tools = await pm.update_persona("cat", tools=[])
            same = await pm.update_persona("cat")
            await pm.delete_persona("odd")
            return json.dumps([same_fields, isinstance(cat.id, int), odd.skills, none, cat.persona_id, cat.tools, odd.tools, v3["cat"]["_begin_dialogs_processed"], v3["odd"]["_begin_dialogs_processed"],
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
                True,
                True,
                None,
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
                await self.raises(f"await pm.{source}"), "ValueError: there is no persona 'dog'"
            )
        self.assertEqual(
            await self.raises("await pm.create_persona('cat', 'x')"),
            "ValueError: there is a persona 'cat' already",
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

    async def test_jobs_outlive_the_process(self) -> None:
        """A persistent job fires by the host's timer, in a later process too: what wakes the agent at once, a
        handler after its plugin has come back."""
        adding = """
            async def add():
                return await ctx.cron_manager.add_basic_job(name="count", cron_expression="0 9 * * 1", handler=star.counted.append, payload={}, persistent=True)
            star.counted = []
            """
        await self.py(
            adding
            + """
            await add()
            await ctx.cron_manager.add_active_job(name="wake", cron_expression="*/5 * * * *", payload={"session": umo, "note": "look out"})
            """
        )
        host = self.stage.host
        self.assertEqual([timer["cron"] for timer in host.timers.values()], ["0 9 * * 1", "*/5 * * * *"])
        count, wake = host.timers
        async with Stage() as later:
            later.host.preferences, later.host.timers = host.preferences, host.timers
            await later.load(GARDEN)
            for job in (count, wake):
                await later.rig.step(
                    "timer",
                    plugin="command_garden",
                    id=job,
                    name="cron_job",
                    payload={},
                    session=None,
                    due=0.0,
                    missed=False,
                )
            self.assertEqual(later.host.pushed, [{"session": UMO, "text": "look out", "trigger": True}])
            found = await later.py(
                textwrap.dedent("umo = 'test:FriendMessage:u1'\n" + textwrap.dedent(adding))
                + textwrap.dedent(
                    """
                    star.count = lambda: star.counted.append(1)
                    job = await ctx.cron_manager.add_basic_job(name="count", cron_expression="0 10 * * 1", handler=star.count, persistent=True)
                    return job.job_id, [one.name for one in await ctx.cron_manager.list_jobs()]
                    """
                )
            )
            self.assertEqual(eval(found), (count, ["count", "wake"]))
            await later.rig.step(
                "timer",
                plugin="command_garden",
                id=count,
                name="cron_job",
                payload={},
                session=None,
                due=0.0,
                missed=True,
            )
            self.assertEqual(
                await later.py(
                    "return star.counted, [j.status for j in await ctx.cron_manager.list_jobs('basic')]"
                ),
                "([1], ['completed'])",
            )
            await later.py(
                "await ctx.cron_manager.delete_job((await ctx.cron_manager.list_jobs('basic'))[0].job_id)"
            )
        self.assertEqual(list(host.timers), [wake])

    async def test_mirrors_are_pushed(self) -> None:
        """What the operator changes is seen by synchronous looks, without a reload."""
        models = [{"id": "big", "kind": "chat"}, {"id": "stub", "kind": "chat"}]
        persona = {"name": "owl", "id": 1, "system_prompt": "hoot", "begin_dialogs": None, "methods": None}
        await self.stage.rig.step(
            "settings", settings={"administrators": ["boss"]}, models=models, personas=[persona]
        )
        found = await self.py(
            """
            await ctx.provider_manager.set_provider("big", __import__("astrbot.api.provider", fromlist=["x"]).ProviderType.CHAT_COMPLETION, umo)
            return json.dumps([[p.meta().id for p in ctx.get_all_providers()], [p["name"] for p in pm.personas_v3], ctx.get_config()["admins_id"], ctx.get_using_provider(umo).meta().id])
            """
        )
        self.assertEqual(found, [["stub", "big"], ["owl"], ["boss"], "big"])
        self.assertEqual(self.stage.host.chosen_models, {UMO: "big"})

    async def test_personas_words_and_usage(self) -> None:
        """Fields that only AstrBot's personas and conversations have are kept, and a persona's own words are
        said where the model fails."""
        found = await self.py(
            """
            await pm.create_persona("cat", "purr", skills=["nap"], custom_error_message="meow?")
            await pm.update_persona("cat", skills=None)
            one = await pm.get_persona("cat")
            id = await cm.new_conversation(umo, persona_id="cat")
            await cm.update_conversation(umo, id, token_usage=77)
            return json.dumps([one.skills, one.custom_error_message, pm.personas_v3[0]["custom_error_message"], (await cm.get_conversation(umo, id)).token_usage])
            """
        )
        self.assertEqual(found, [None, "meow?", "meow?", 77])
        self.stage.host.default_persona[None] = "cat"
        self.assertEqual(await self.stage.say("hi", llm=[{"error": "no"}]), [["meow?"]])

    async def test_what_was_said(self) -> None:
        """The message history is the log's, unless plugins keep one of their own."""
        row = {
            "id": 1,
            "chat_key": "p:GroupMessage:g",
            "sender_id": "u1",
            "sender_name": "Alice",
            "content_text": "hi",
            "send_timestamp": 5,
        }
        self.stage.host.log += [
            row,
            {**row, "id": 2, "sender_id": "-1", "sender_name": "Assistant", "content_text": "hello"},
        ]
        found = await self.py(
            """
            history = ctx.message_history_manager
            logged = await history.get("p", "g")
            newest = await history.get("p", "g", page=1, page_size=1)
            await history.insert("p", "g", {"type": "user", "message": []}, "u2", "Bob")
            return json.dumps([[[one.sender_id, one.content["type"], one.content["message"][0]["text"]] for one in logged], [one.id for one in newest], [one.sender_name for one in await history.get("p", "g")]])
            """
        )
        self.assertEqual(found, [[["u1", "user", "hi"], ["bot", "bot", "hello"]], [2], ["Bob"]])

    async def test_an_installation_has_a_name(self) -> None:
        told = await self.py(
            """
            from astrbot.core.utils.metrics import Metric
            return json.dumps([Metric.get_installation_id(), Metric.get_installation_id()])
            """
        )
        self.assertRegex(str(told), r"\['([0-9a-f-]{36})', '\1'\]")

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
                {"type": "face", "id": "1"},
            ],
        )
        self.assertTrue(self.stage.host.sent[0][4]["url"].startswith("data:application/json;base64,77u/"))
        self.assertIn("session", await self.raises("await ctx.send_message('nonsense', None)"))

    async def test_pictures_of_pages(self) -> None:
        """A picture is an http URL of our own file service; in a message it travels whole. The host's browser
        draws it, from the page with its values filled in."""
        pages: list[dict] = []

        def html_render(html: str, options: dict) -> bytes:
            pages.append({"html": html, **options})
            return b"\xff\xd8\xffdrawn"

        self.stage.rig.methods["html_render"] = html_render
        found = await self.py(
            """
            import httpx
            from astrbot.api.event import MessageChain
            from astrbot.api.message_components import Image
            url = await star.html_render("<p>{{ words }} <b>{{ 1 + 1 }}</b></p>", {"words": "hello"}, options={"quality": 90})
            path = await star.text_to_image("# head\\n<b>", return_url=False)
            async with httpx.AsyncClient(trust_env=False) as client:
                got, none = await client.get(url), await client.get(url.replace("file/", "file/x"))
            await ctx.send_message(umo, MessageChain().url_image(url))
            copied = await Image.fromURL(url).convert_to_file_path()
            return json.dumps([url.startswith("http://127.0.0.1:"), url[-4:], got.headers["content-type"], got.content.hex(), none.status_code, path[-4:], open(copied, "rb").read().hex()])
            """
        )
        drawn = b"\xff\xd8\xffdrawn".hex()
        self.assertEqual(found, [True, ".jpg", "image/jpeg", drawn, 404, ".png", drawn])
        self.assertTrue(self.stage.host.sent[0][0]["url"].startswith("data:image/jpeg;base64,/9j/"))
        first, second = pages
        self.assertEqual(first["html"], "<p>hello <b>2</b></p>")
        self.assertEqual((first["type"], first["quality"], first["full_page"]), ("jpeg", 90, True))
        self.assertIn("<h1>head</h1>", second["html"])
        self.assertIn("&lt;b&gt;", second["html"])

    async def test_pictures_without_a_browser(self) -> None:
        """The words are drawn by ourselves."""
        found = await self.py(
            """
            from PIL import Image
            from astrbot.core.utils.t2i.plain import words_of
            short = await star.html_render("<p>one</p>", {}, return_url=False)
            long = await star.text_to_image("a line\\n\\n" * 40, return_url=False)
            pictures = [Image.open(path) for path in (short, long)]
            dark = [sum(1 for level in one.convert("L").getdata() if level < 100) for one in pictures]
            return json.dumps([pictures[0].format, pictures[1].format, pictures[0].height < pictures[1].height, 20 < dark[0] < dark[1], words_of("<style>x</style><p>a</p>b &amp; c<tr><td>1</td><td>2</td></tr>")])
            """
        )
        self.assertEqual(found, ["JPEG", "PNG", True, True, "a\nb & c1  2"])

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
            operator = {"x-callgate-role": "operator"}
            r1 = await client.post("/api/plug/garden/7?n=3", json={"x": 1}, headers={"x-callgate-user": "op", **operator})
            r2 = await client.post("/two", json={"x": 2}, headers=operator)
            r3 = await client.get("/api/plug/garden", headers=operator)
            r4 = await client.post("/two", json={"x": 2}, headers={"x-callgate-role": "user"})
            two.__module__ = "data.plugins.neighbour.main"
            r5 = await client.post("/two", json={"x": 2}, headers=operator)
            codes = [r3.status_code, r4.status_code, r5.status_code]
            return json.dumps([await r1.get_json(), await r2.get_json(), codes])
            """
        )
        self.assertEqual(
            answered,
            [{"id": "7", "q": 3, "body": {"x": 1}, "user": "op"}, {"path": "/two", "form": 2}, [404, 403, 404]],
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
