"""Models, tools and agents as AstrBot plugins use them (the guide to AI, lines A-01 to A-33)."""

import asyncio
import json
import tempfile
import textwrap
import unittest
from pathlib import Path

from astrbot_host import Stage, StepError

AGENTS = Path(__file__).parent / "astrbot" / "weather_agents"
HEAD = """
    from astrbot.api.all import *
    from astrbot.api.event import filter
    from astrbot.api import FunctionTool, ToolSet
    class P(Star):
"""


class Written(unittest.IsolatedAsyncioTestCase):
    """Tests whose plugins are a few lines."""

    async def asyncSetUp(self) -> None:
        self.stage = await self.enterAsyncContext(Stage())
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="callgate-plugin-")))

    def write(self, body: str, name: str = "written", head: str = HEAD) -> Path:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        source = textwrap.dedent(head) + textwrap.indent(textwrap.dedent(body), "    " if head else "")
        (folder / "main.py").write_text(source, "utf-8")
        return folder

    async def refused(self, body: str) -> str:
        with self.assertRaises(StepError) as caught:
            await self.stage.load(self.write(body))
        return caught.exception.error["message"]


class Models(Written):
    async def test_requests(self) -> None:
        """A-03 to A-07: the session's model, prompt last, contexts alone, parameters on the wire, errors raise."""
        await self.stage.load(AGENTS)
        host = self.stage.host
        ask = """
            from astrbot.core.agent.message import UserMessageSegment, TextPart
            from astrbot.core.exceptions import ProviderNotFoundError
            said = UserMessageSegment(content=[TextPart(text="hi")])
        """
        host.models.append({"id": "other", "kind": "chat", "default": False})
        await self.stage.rig.step("refresh")
        host.preferences["umo", "p:GroupMessage:x", "provider_perf_chat_completion"] = "other"
        host.chosen_models["p:GroupMessage:z"] = "other"
        ids = "return [await ctx.get_current_chat_provider_id(umo=s) for s in ('p:GroupMessage:x', 'p:GroupMessage:y', 'p:GroupMessage:z')]"
        self.assertEqual(await self.stage.py(ids), "['other', 'stub', 'other']")
        by_position = "return await ctx.get_current_chat_provider_id('p:GroupMessage:x')"
        self.assertEqual(await self.stage.py(by_position), "'other'")
        with self.assertRaises(StepError) as caught:
            await self.stage.py("await ctx.llm_generate('stub', 'x')")
        self.assertEqual(caught.exception.error["type"], "TypeError")
        host.script = [{"text": "yo"}]
        source = (
            ask
            + """
            r = await ctx.llm_generate(chat_provider_id="stub", prompt="and?", contexts=[said, {"role": "assistant", "content": "x"}], system_prompt="s", temperature=0.5)
            return r.completion_text, r.role, r.usage.total, r.result_chain.get_plain_text()
        """
        )
        self.assertEqual(await self.stage.py(textwrap.dedent(source)), "('yo', 'assistant', 15, 'yo')")
        self.assertEqual(
            [m["role"] for m in host.asked[-1]["messages"]], ["system", "user", "assistant", "user"]
        )
        self.assertEqual(host.asked[-1]["messages"][-1]["content"], "and?")
        self.assertEqual(host.last_request["temperature"], 0.5)
        host.script = [{"text": "yo"}]
        source = (
            textwrap.dedent(ask)
            + 'return (await ctx.llm_generate(chat_provider_id="stub", contexts=[said])).completion_text'
        )
        await self.stage.py(source)
        self.assertEqual(
            host.asked[-1]["messages"], [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
        )
        for call in ('chat_provider_id="nobody", prompt="x"', 'chat_provider_id="stub", prompt="x"'):
            with self.assertRaises(StepError) as caught:
                await self.stage.py(f"await ctx.llm_generate({call})")
            self.assertIn(caught.exception.error["type"], ("ProviderNotFoundError", "HostError"))
        await self.stage.rig.step("settings", settings={}, models=[], personas=[])
        with self.assertRaises(StepError) as caught:
            await self.stage.py("await ctx.get_current_chat_provider_id('p:GroupMessage:y')")
        self.assertEqual(caught.exception.error["type"], "ProviderNotFoundError")

    async def test_old_calls(self) -> None:
        """A-02: provider objects of AstrBot 3 still answer, synchronous lookup included."""
        await self.stage.load(AGENTS)
        self.stage.host.script = [{"text": "pong"}, {"calls": [{"name": "t", "args": {"a": 1}}]}]
        source = """
            p = ctx.get_using_provider()
            a = await p.text_chat(prompt="ping", session_id="s", contexts=[], image_urls=[])
            b = await p.text_chat(prompt="call")
            return a.completion_text, p.meta().id, p.get_model(), b.role, b.tools_call_name, b.tools_call_args, b.completion_text
        """
        self.assertEqual(
            await self.stage.py(textwrap.dedent(source)),
            "('pong', 'stub', 'stub', 'tool', ['t'], [{'a': 1}], None)",
        )


class Tools(Written):
    async def test_registered_tools(self) -> None:
        """A-08 to A-21: three styles of tools and decorated ones; what each returns reaches the model."""
        loaded = await self.stage.load(AGENTS)
        tools = {tool["name"]: tool for tool in loaded["extra"]["tools"]}
        self.assertEqual(
            sorted(tools),
            ["city_weather", "find_videos", "five_types", "get_weather", "lead_agents", "old_tool"],
        )
        self.assertEqual(tools["get_weather"]["description"], "Tells the weather.")
        self.assertEqual(
            tools["get_weather"]["parameters"],
            {"type": "object", "properties": {"location": {"type": "string", "description": "where"}}},
        )
        described = {"type": "string", "description": "What to look for."}
        self.assertEqual(
            tools["find_videos"],
            {
                "name": "find_videos",
                "description": "Finds videos.",
                "parameters": {
                    "type": "object",
                    "properties": {"keywords": described},
                    "required": ["keywords"],
                },
            },
        )
        with self.assertRaises(StepError):
            await self.stage.py(
                "from astrbot.api import FunctionTool\nFunctionTool('x', 'x', {'type': 'no such type'})"
            )
        kinds = tools["five_types"]["parameters"]["properties"]
        self.assertEqual(
            [kinds[name]["type"] for name in "abcdef"],
            ["string", "number", "object", "boolean", "array", "array"],
        )
        self.assertEqual(kinds["f"]["items"], {"type": "string"})
        self.assertEqual(tools["five_types"]["description"], "All the types.\n\nMore about them.")
        calls = [
            {"name": "find_videos", "args": {"keywords": "cats", "extra": 1}},
            {"name": "old_tool", "args": {"word": "x"}},
            {"name": "five_types", "args": {"a": "t", "b": 1, "c": {}, "d": True, "e": [], "f": ["x"]}},
        ]
        await self.stage.say("go", llm=[{"text": "wait", "calls": calls}, {"text": "ok"}])
        self.assertEqual(self.stage.host.sent, [["wait"], ["ok"]])
        results = [m["content"] for m in self.stage.host.asked[1]["messages"] if m["role"] == "tool"]
        self.assertEqual(
            results,
            [
                "1. a film about cats\nlink: xxx",
                "{'word': 'x', 'from': 'u1'}",
                "['t', 1, {}, True, [], ['x']]",
            ],
        )
        sent = await self.stage.say(
            "go", llm=[{"calls": [{"name": "get_weather", "args": {"location": "Rome"}}]}]
        )
        self.assertEqual(sent, [["weather_agents: Rome is sunny"]])
        self.assertEqual(len(self.stage.host.asked), 1)

    async def test_a_tool_called_as_a_method(self) -> None:
        """Code in the sandbox calls a tool like any method."""
        loaded = await self.stage.load(AGENTS)
        self.assertEqual(
            await self.stage.rig.call(loaded["id"], "city_weather", "Oslo"), "Oslo: sunny, 25 degrees"
        )
        self.assertEqual(
            await self.stage.rig.call(loaded["id"], "old_tool", word="w"), "{'word': 'w', 'from': 'u1'}"
        )
        with self.assertRaises(StepError) as caught:
            await self.stage.rig.call(loaded["id"], "get_weather")
        self.assertIn("location", caught.exception.error["message"])

    async def test_docstrings_that_stop_a_plugin(self) -> None:
        """A-19: the error names tool and parameter; what is silently lost upstream is a warning."""
        for kind in ("", "(integer)", "(string[x])", "(array[array[string]])", "(Optional[str])"):
            body = f'''
                @filter.llm_tool(name="odd")
                async def odd(self, event, a):
                    """Odd.

                    Args:
                        a{kind}: something
                    """
            '''
            message = await self.refused(body)
            self.assertIn("odd", message, kind)
            self.assertIn("a", message.split("odd", 1)[1], kind)
        for heading in ("参数:", "Args："):
            body = f'''
                @filter.llm_tool(name="quiet")
                async def quiet(self, event, a):
                    """Quiet.

                    {heading}
                        a(string): something
                    """
            '''
            loaded = await self.stage.load(self.write(body))
            self.assertEqual(len(loaded["warnings"]), 1, heading)
            self.assertIn("quiet: its parameters are not recognised", loaded["warnings"][0])
            self.assertEqual(loaded["extra"]["tools"][0]["parameters"]["properties"], {})

    async def test_results_of_handlers_given_to_a_tool_object(self) -> None:
        """Ad-hoc tools: filtered arguments, yields, None, errors, time limits, unknown names."""
        body = """
            async def two(self, event, x=0):
                yield "one"
                yield f"two {x}"
            async def slow(self, event):
                import asyncio
                await asyncio.sleep(30)
            async def nothing(self, event):
                event.set_result("said by the tool")
            async def bad(self, event):
                raise KeyError("k")
            @filter.command("loop")
            async def loop(self, event):
                schema = {"type": "object", "properties": {"x": {"type": "number"}}}
                tools = ToolSet([FunctionTool(n, n, schema, getattr(self, n)) for n in ("two", "slow", "nothing", "bad")])
                try:
                    r = await self.context.tool_loop_agent(event=event, chat_provider_id="stub", prompt="p", tools=tools, max_steps=2, tool_call_timeout=1)
                    yield event.plain_result(f"{r.role}: {r.completion_text}")
                except Exception as e:
                    yield event.plain_result(f"{type(e).__name__} {e}")
        """
        await self.stage.load(self.write(body))
        calls = [{"name": n, "args": {"x": 7, "y": 1}} for n in ("two", "slow", "bad", "nobody")]
        await self.stage.say("/loop", llm=[{"calls": calls}, {"text": "end"}])
        self.assertEqual(self.stage.host.sent, [["assistant: end"]])
        results = [m["content"] for m in self.stage.host.asked[1]["messages"] if m["role"] == "tool"]
        self.assertEqual(
            results,
            [
                "one",
                "two 7",
                "error: the tool cannot take these arguments; its own are: (none)",
                "error: the tool cannot take these arguments; its own are: (none)",
                "error: there is no tool nobody. The tools are: two, slow, nothing, bad",
            ],
        )
        await self.stage.say(
            "/loop",
            llm=[{"calls": [{"name": "slow", "args": {}}, {"name": "bad", "args": {}}]}, {"text": "end"}],
        )
        results = [m["content"] for m in self.stage.host.asked[1]["messages"] if m["role"] == "tool"]
        self.assertEqual(results, ["error: tool slow execution timeout after 1 seconds.", "error: 'k'"])
        await self.stage.say("/loop", llm=[{"calls": [{"name": "nothing", "args": {}}]}])
        self.assertEqual(
            self.stage.host.sent,
            [["said by the tool"], ["Exception the agent ended without an answer"]],
        )
        await self.stage.say("later", llm=[{"calls": [{"name": "two", "args": {}}]}, {"text": "no"}])
        self.assertIn("there is no tool two", self.stage.host.asked[1]["messages"][-1]["content"])
        await self.stage.say("/loop", llm=[{"error": "down"}])
        self.assertEqual(self.stage.host.sent, [["err: The model could not answer: down"]])
        call = {"calls": [{"name": "two", "args": {}}]}
        await self.stage.say("/loop", llm=[call, call, {"text": "forced"}])
        self.assertEqual([len(asked["tools"]) for asked in self.stage.host.asked], [4, 4, 0])

    async def test_agents_of_agents(self) -> None:
        """A-22 to A-33, three levels deep; two calls in one answer run in order."""
        await self.stage.load(AGENTS)
        scenario = json.loads((AGENTS / "scenario.json").read_text("utf-8"))
        for step in scenario["steps"]:
            sent = await asyncio.wait_for(self.stage.say(step["msg"], llm=step["llm"]), 20)
            self.assertEqual(sent, step["sent"], step["msg"])
        self.assertEqual([asked["tools"] for asked in self.stage.host.asked][2], ["city_weather"])

    async def test_switching_tools(self) -> None:
        """A-11: replacing by name, switching off and on, which outlives the process."""
        body = """
            async def say(self, event):
                return "second"
            def __init__(self, context):
                super().__init__(context)
                nothing = {"type": "object", "properties": {}}
                context.add_llm_tools(FunctionTool("a", "first", nothing, self.say), FunctionTool("b", "", nothing, self.say))
                context.add_llm_tools(FunctionTool("a", "second", nothing, self.say))
        """
        loaded = await self.stage.load(self.write(body))
        self.assertEqual({m["name"]: m["description"] for m in loaded["methods"]}, {"b": "", "a": "second"})
        self.assertEqual(loaded["warnings"], ["tool a is replaced"])
        await self.stage.load(AGENTS)
        source = """
            from astrbot.api import FunctionTool
            ctx.add_llm_tools(FunctionTool("find_videos", "new", {"type": "object", "properties": {}}))
            m = ctx.get_llm_tool_manager()
            off = await ctx.deactivate_llm_tool_async("old_tool"), ctx.deactivate_llm_tool("city_weather")
            on = await ctx.activate_llm_tool_async("old_tool"), ctx.activate_llm_tool("nothing_such")
            return [t.name for t in m.func_list if t.description == "new"], off, on, m.get_func("city_weather").active
        """
        self.assertEqual(
            await self.stage.py(textwrap.dedent(source)),
            "(['find_videos'], (True, True), (True, False), False)",
        )
        self.assertEqual(
            self.stage.host.preferences["global", "global", "inactivated_llm_tools"], ["city_weather"]
        )

    async def test_the_gate_hears_of_new_tools(self) -> None:
        """Tools that are added, switched or removed while the plugin runs reach the host; those of servers are
        in the list."""
        await self.stage.load(AGENTS)
        self.stage.host.server_tools.append(
            {"name": "look_up", "origin": "mcp:books", "description": "Finds.", "parameters": None}
        )
        await self.stage.say("/none", llm=[{"text": "ok"}])
        self.assertEqual(self.stage.host.offered, {})
        found = await self.stage.py(
            textwrap.dedent(
                """
                from astrbot.api import FunctionTool
                m = ctx.get_llm_tool_manager()
                m.func_list.append(FunctionTool("later", "Later.", {"type": "object", "properties": {}}, star.__class__.__init__))
                ctx.deactivate_llm_tool("city_weather")
                return [(t.name, t.mcp_server_name) for t in m.func_list if hasattr(t, "mcp_server_name")]
                """
            )
        )
        self.assertEqual(found, "[('look_up', 'books')]")
        offered = self.stage.host.offered["weather_agents"]
        self.assertIn("later", offered)
        self.assertNotIn("city_weather", offered)
        await self.stage.py("ctx.unregister_llm_tool('later')")
        self.assertNotIn("later", self.stage.host.offered["weather_agents"])

    async def test_tools_that_come_and_go(self) -> None:
        """A turn has the tools there are now; a request with tools of its own has only those."""
        body = '''
            @filter.llm_tool()
            async def old(self, event):
                """Old."""
                return "old"
            async def say_new(self, event):
                return "new"
            @filter.command("change")
            async def change(self, event):
                self.context.deactivate_llm_tool("old")
                self.context.add_llm_tools(FunctionTool("new", "New.", {"type": "object", "properties": {}}, self.say_new))
                yield event.plain_result("changed")
            @filter.command("own")
            async def own(self, event):
                tool = FunctionTool("mine", "Mine.", {"type": "object", "properties": {}}, self.say_new)
                yield event.request_llm(prompt="p", tool_set=ToolSet([tool]))
        '''
        await self.stage.load(self.write(body))
        await self.stage.say("hi", llm=[{"text": "ok"}])
        self.assertEqual(self.stage.host.asked[0]["tools"], ["old"])
        await self.stage.say("/change")
        await self.stage.say("hi", llm=[{"calls": [{"name": "new", "args": {}}]}, {"text": "ok"}])
        self.assertEqual(self.stage.host.asked[0]["tools"], ["new"])
        self.assertEqual(self.stage.host.asked[1]["messages"][-1]["content"], "new")
        await self.stage.say("/own", llm=[{"calls": [{"name": "mine", "args": {}}]}, {"text": "ok"}])
        self.assertEqual(self.stage.host.asked[0]["tools"], ["mine"])
        self.assertEqual(self.stage.host.asked[1]["messages"][-1]["content"], "new")

    async def test_handoff(self) -> None:
        """A decorated agent with a tool of its own; the main model hands work over and gets its answer."""
        body = '''
            from astrbot.api import agent
            @agent(name="poet", instruction="You write poems.")
            async def poet(self, event):
                """A poet."""
            @poet.llm_tool(name="rhyme")
            async def rhyme(self, event, word: str):
                """Finds a rhyme.

                Args:
                    word(string): for this
                """
                return word + "!"
        '''
        loaded = await self.stage.load(self.write(body))
        self.assertEqual([method["name"] for method in loaded["methods"]], ["transfer_to_poet"])
        script = [
            {"calls": [{"name": "transfer_to_poet", "args": {"input": "a poem"}}]},
            {"calls": [{"name": "rhyme", "args": {"word": "cat"}}]},
            {"text": "cat!"},
            {"text": "done"},
        ]
        self.assertEqual(await self.stage.say("write", llm=script), [["done"]])
        self.assertEqual(self.stage.host.asked[1]["messages"][0]["content"], "You write poems.")
        self.assertEqual(self.stage.host.asked[2]["messages"][-1]["content"], "cat!")
        self.assertEqual(self.stage.host.asked[3]["messages"][-1]["content"], "cat!")


class Hooks(Written):
    async def test_hooks_of_five_plugins_over_one_request(self) -> None:
        """Order by priority; each sees what those before changed; only the turn's tools and texts change."""
        body = """
            @filter.on_llm_request(priority={n})
            async def first(self, event, req):
                req.system_prompt += "{n};"
                req.prompt += "{n}"
                req.contexts.append({{"role": "user", "content": "c{n}"}})
                if {n} == 3:
                    from astrbot.core.agent.message import TextPart
                    req.extra_user_content_parts.append(TextPart(text="kept"))
                    req.extra_user_content_parts.append(TextPart(text="gone").mark_as_temp())
                    req.func_tool = ToolSet([FunctionTool("made", "m", {{"type": "object", "properties": {{}}}}, self.made)])
            async def made(self, event):
                return "made by {n}"
        """
        for n in range(1, 6):
            await self.stage.load(self.write(body.format(n=n), name=f"hook{n}"))
        script = [{"calls": [{"name": "made", "args": {}}]}, {"text": "ok"}]
        self.assertEqual(await self.stage.say("hi", llm=script), [["ok"]])
        first, second = self.stage.host.asked
        self.assertEqual(first["tools"], ["made"])
        self.assertEqual(first["messages"][0]["content"], "5;4;3;2;1;")
        self.assertEqual([m["content"] for m in first["messages"][1:6]], ["c5", "c4", "c3", "c2", "c1"])
        self.assertEqual(
            [part["text"] for part in first["messages"][-1]["content"]], ["hi54321", "kept", "gone"]
        )
        self.assertEqual(second["messages"][-1]["content"], "made by 3")
        history = next(iter(self.stage.host.conversations.values()))["history"]
        self.assertIn("kept", history)
        self.assertNotIn("gone", history)

    async def test_every_hook_in_order(self) -> None:
        body = '''
            def note(self, event, name):
                event.set_extra("seen", [*event.get_extra("seen", []), name])
            @filter.on_waiting_llm_request()
            async def a(self, event): self.note(event, "waiting")
            @filter.on_llm_request()
            async def b(self, event, req): self.note(event, "request")
            @filter.on_agent_begin()
            async def c(self, event, run_context): self.note(event, "begin")
            @filter.on_using_llm_tool()
            async def d(self, event, tool, tool_args): self.note(event, f"using {tool.name} {tool_args}")
            @filter.on_llm_tool_respond()
            async def e(self, event, tool, tool_args, tool_result): self.note(event, f"result {tool_result.content[0].text}")
            @filter.on_llm_response()
            async def f(self, event, resp):
                self.note(event, "response")
                resp.completion_text = resp.completion_text.upper()
            @filter.on_agent_done()
            async def g(self, event, run_context, resp): self.note(event, "done")
            @filter.on_decorating_result()
            async def h(self, event):
                self.note(event, "decorating")
                event.get_result().chain.append(Plain("!"))
            @filter.after_message_sent()
            async def i(self, event):
                self.note(event, "sent")
                self.seen = event.get_extra("seen")
            @filter.llm_tool()
            async def tool(self, event, x: int):
                """A tool.

                Args:
                    x(int): number
                """
                return x + 1
        '''
        await self.stage.load(self.write(body))
        script = [{"calls": [{"name": "tool", "args": {"x": 1}}]}, {"text": "ok"}]
        self.assertEqual(await self.stage.say("hi", llm=script), [["OK", "!"]])
        wanted = [
            "waiting",
            "request",
            "begin",
            "using tool {'x': 1}",
            "result 2",
            "response",
            "done",
            "decorating",
            "sent",
        ]
        self.assertEqual(await self.stage.py("return star.seen"), repr(wanted))
        history = next(iter(self.stage.host.conversations.values()))["history"]
        self.assertIn('"ok"', history)  # the model's own words are kept, not the decorated ones

    async def test_a_hook_that_fails_or_stops(self) -> None:
        body = """
            @filter.on_llm_request(priority=1)
            async def broken(self, event, req): raise RuntimeError("ignored")
            @filter.on_llm_request()
            async def stops(self, event, req):
                if "stop" in req.prompt: event.stop_event()
            @filter.on_plugin_error()
            async def told(self, event, plugin, handler, error, trace):
                await event.send(MessageChain().message(f"{plugin} {handler} {error}"))
                event.stop_event()
            @filter.command("fail")
            async def fail(self, event): raise ValueError("oops")
        """
        await self.stage.load(self.write(body))
        self.assertEqual(await self.stage.say("hi", llm=[{"text": "ok"}]), [["ok"]])
        self.assertEqual(await self.stage.say("stop it", llm=[{"text": "never"}]), [])
        self.assertEqual(self.stage.host.asked, [])
        self.assertEqual(await self.stage.say("/fail"), [["written fail oops"]])
