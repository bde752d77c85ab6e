"""What published AstrBot plugins count on without its being written down anywhere."""

import unittest

from test_astrbot_ai import Written


class Habits(Written):
    async def test_commands_are_told_from_listeners(self) -> None:
        """`handlers_parsed_params` names the commands that were given, and nothing else."""
        body = """
            @filter.event_message_type(filter.EventMessageType.ALL, priority=9)
            async def hear(self, event):
                names = event.get_extra("handlers_parsed_params", {})
                self.heard = [(name.rpartition("_")[2], given) for name, given in names.items()]
            @filter.command("add")
            async def add(self, event, a: int):
                yield event.plain_result(str(self.heard))
            @filter.command("plain")
            async def plain(self, event):
                yield event.plain_result(str(self.heard))
            @filter.command_group("group")
            def group(self):
                pass
        """
        await self.stage.load(self.write(body))
        self.assertEqual(await self.stage.say("/add 3"), [["[('add', {'a': 3})]"]])
        self.assertEqual(await self.stage.say("/plain"), [["[('plain', {})]"]])
        await self.stage.say("hello", llm=[{"text": "hi"}])
        self.assertEqual(await self.stage.py("return star.heard"), "[]")

    async def test_a_stopped_event_says_what_it_was_given(self) -> None:
        """Stopping keeps others from the event, not its result from the user."""
        body = """
            @filter.command("first")
            async def first(self, event):
                event.stop_event()
                yield event.plain_result("stopped, then said")
                yield event.plain_result("never")
            @filter.command("set")
            async def set_(self, event):
                event.stop_event()
                event.set_result("set")
            @filter.command("only")
            async def only(self, event):
                event.stop_event()
            @filter.event_message_type(filter.EventMessageType.ALL, priority=-1)
            async def later(self, event):
                if event.message_str in ("first", "set", "only"):
                    yield event.plain_result("nobody comes here")
            @filter.on_llm_request()
            async def asked(self, event, req):
                if "before" in req.prompt:
                    event.set_result("told before the model")
                    event.stop_event()
            @filter.on_llm_response()
            async def answered(self, event, resp):
                if "silence" in event.message_str:
                    event.stop_event()
                if "instead" in event.message_str:
                    event.set_result("instead")
                    event.stop_event()
        """
        await self.stage.load(self.write(body))
        self.assertEqual(await self.stage.say("/first"), [["stopped, then said"]])
        self.assertEqual(await self.stage.say("/set"), [["set"]])
        self.assertEqual(await self.stage.say("/only", llm=[{"text": "never"}]), [])
        self.assertEqual(await self.stage.say("before", llm=[{"text": "never"}]), [["told before the model"]])
        self.assertEqual(await self.stage.say("silence", llm=[{"text": "never"}]), [])
        self.assertEqual(await self.stage.say("instead", llm=[{"text": "never"}]), [["instead"]])

    async def test_parameters_without_a_type(self) -> None:
        """They take nothing, in upstream's words."""
        body = """
            @filter.command("any")
            async def any_(self, event, *args):
                yield event.plain_result("got it")
        """
        await self.stage.load(self.write(body))
        self.assertEqual(await self.stage.say("/any x"), [["written: _empty() takes no arguments"]])
        missing = "written: something is missing. The command takes: args(_empty)"
        self.assertEqual(await self.stage.say("/any"), [[missing]])

    async def test_registered_tasks_run(self) -> None:
        body = """
            def __init__(self, context):
                import asyncio
                super().__init__(context)
                self.runs = asyncio.Event()
                context.register_task(self.work(), "in the background")
            async def work(self):
                self.runs.set()
        """
        await self.stage.load(self.write(body))
        self.assertEqual(await self.stage.py("return await asyncio.wait_for(star.runs.wait(), 9)"), "True")

    async def test_only_long_texts_become_pictures(self) -> None:
        body = """
            @filter.command("short")
            async def short(self, event):
                yield event.plain_result("short").use_t2i(True)
            @filter.command("long")
            async def long(self, event):
                yield event.plain_result("long " * 40).use_t2i(True)
            @filter.command("off")
            async def off(self, event):
                yield event.plain_result("long " * 40).use_t2i(False)
        """
        await self.stage.load(self.write(body))
        self.assertEqual(await self.stage.say("/short"), [["short"]])
        [[picture]] = await self.stage.say("/long")
        self.assertEqual(picture["type"], "image")
        self.assertEqual(await self.stage.say("/off"), [["long " * 40]])

    async def test_repeated_calls_are_noticed(self) -> None:
        """From the third time on the model is told that it makes the same call again and again."""
        body = '''
            @filter.llm_tool(name="look")
            async def look(self, event, at: str):
                """Looks.

                Args:
                    at(string): where
                """
                return at
        '''
        await self.stage.load(self.write(body))
        calls = [{"calls": [{"name": "look", "args": {"at": at}}]} for at in ("a", "a", "a", "a", "b", "a")]
        await self.stage.say("hi", llm=[*calls, {"text": "ok"}])
        told = [
            one["content"] for one in self.stage.host.asked[-1]["messages"] if one["role"] == "tool"
        ]
        self.assertEqual([text[0] for text in told], ["a", "a", "a", "a", "b", "a"])
        times = [text.partition("[")[2].partition(" times")[0] for text in told]
        self.assertEqual(times, ["", "", "3", "4", "", ""])
        self.assertTrue(told[2].startswith("a\n\n[3 times in a row you called look with the same arguments."))

    async def test_requests_of_plugins(self) -> None:
        """With a conversation a plugin's request is part of that, with none it stands alone."""
        body = '''
            @filter.llm_tool(name="look")
            async def look(self, event):
                """Looks."""
                return "seen"
            @filter.command("alone")
            async def alone(self, event):
                yield event.request_llm(prompt="p")
            @filter.command("given")
            async def given(self, event):
                yield event.request_llm(prompt="p", contexts=[{"role": "user", "content": "before"}])
            @filter.command("within")
            async def within(self, event):
                manager = self.context.conversation_manager
                id = await manager.new_conversation("test:FriendMessage:u2", content=[{"role": "user", "content": "q"}])
                found = await manager.get_conversation(event.unified_msg_origin, id)
                own = FunctionTool("own", "Own.", {"type": "object", "properties": {}}, self.look)
                yield event.request_llm(prompt="p", conversation=found, tool_set=ToolSet([own]))
                self.id = id
            @filter.on_llm_request()
            async def heard(self, event, req):
                self.conversation = req.conversation
        '''
        await self.stage.load(self.write(body))
        await self.stage.say("hello", llm=[{"text": "hi"}])
        self.assertEqual(self.stage.host.asked[0]["tools"], ["look"])

        self.assertEqual(await self.stage.say("/alone", llm=[{"text": "a"}]), [["a"]])
        self.assertEqual(self.asked(), (["p"], []))
        self.assertEqual(await self.stage.py("return star.conversation"), "None")
        await self.stage.say("/given", llm=[{"text": "a"}])
        self.assertEqual(self.asked(), (["before", "p"], []))
        await self.stage.say("/within", llm=[{"text": "a"}])
        self.assertEqual(self.asked(), (["q", "p"], ["look", "own"]))

        await self.stage.say("again", llm=[{"text": "hi"}])
        self.assertEqual(self.asked(), (["hello", "again"], ["look"]), "nothing of it is in this history")
        kept = "return [one['role'] for one in json.loads((await ctx.conversation_manager.get_conversation('', star.id)).history)]"
        self.assertEqual(await self.stage.py(kept), "['user', 'user', 'assistant']")

    def asked(self) -> tuple[list[str], list[str]]:
        """What users said, and the tools, of the last request."""
        last = self.stage.host.asked[-1]
        said = [one["content"] for one in last["messages"] if one["role"] == "user"]
        return [text if isinstance(text, str) else text[0]["text"] for text in said], last["tools"]

    async def test_the_last_step_of_a_loop(self) -> None:
        """A model that uses up its steps is told to come to an end, and has no tools any more."""
        body = '''
            async def look(self, event):
                return "seen"
            @filter.command("loop")
            async def loop(self, event):
                tools = ToolSet([FunctionTool("look", "Looks.", {"type": "object", "properties": {}}, self.look)])
                id = await self.context.get_current_chat_provider_id(event.unified_msg_origin)
                said = await self.context.tool_loop_agent(
                    event=event, chat_provider_id=id, prompt="p", tools=tools, max_steps=1
                )
                yield event.plain_result(said.completion_text)
        '''
        await self.stage.load(self.write(body))
        llm = [{"calls": [{"name": "look", "args": {}}]}, {"text": "done"}]
        self.assertEqual(await self.stage.say("/loop", llm=llm), [["done"]])
        last = self.stage.host.asked[-1]
        self.assertEqual(last["tools"], [])
        self.assertTrue(last["messages"][-1]["content"].startswith("No tool can be called any more."))

    async def test_an_unknown_model_is_named(self) -> None:
        body = """
            @filter.event_message_type(filter.EventMessageType.ALL)
            async def choose(self, event):
                event.set_extra("selected_provider", "gone")
        """
        await self.stage.load(self.write(body))
        [[said]] = await self.stage.say("hello", llm=[{"text": "hi"}])
        self.assertEqual(said, "The model 'gone' was chosen for this message, and there is none of that name. /model shows which there are.")


if __name__ == "__main__":
    unittest.main()
