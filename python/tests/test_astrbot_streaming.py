"""Streams of AstrBot plugins: words are shown as they come, and each message is kept once."""


from test_astrbot_ai import HEAD, Written

KINDS = "\n    from astrbot.core.message.message_event_result import ResultContentType" + HEAD


class Streaming(Written):
    async def shown(self, text: str, **more: object) -> list[str]:
        await self.stage.say(text, **more)
        return list(self.stage.host.shown)

    async def test_words_are_shown_before_the_message_is_whole(self) -> None:
        """`break` begins another message; thoughts are shown and not kept; a picture is a message of its own; what
        was said before a stream fails is kept."""
        body = """
            async def words(self, *texts):
                for text in texts:
                    yield MessageChain().message(text)
            @filter.command("count")
            async def count(self, event):
                await event.send_streaming(self.words("one ", "two", " three"))
            @filter.command("parts")
            async def parts(self, event):
                async def chains():
                    yield MessageChain(type="reasoning").message("hm")
                    yield MessageChain().message("first")
                    yield MessageChain(type="break")
                    yield MessageChain(type="break")
                    yield None
                    yield MessageChain([Plain("sec"), Plain("ond"), Image.fromBase64("AA=="), Plain("third")])
                    yield MessageChain(type="audio_chunk").message("not words")
                    yield MessageChain([Plain("  ")])
                await event.send_streaming(chains(), use_fallback=True)
            @filter.command("cut")
            async def cut(self, event):
                async def chains():
                    yield MessageChain().message("as far as")
                    raise RuntimeError("the line is dead")
                await event.send_streaming(chains())
        """
        await self.stage.load(self.write(body))
        self.assertEqual(await self.shown("/count"), ["+one ", "+two", "+ three", "one two three"])
        self.assertEqual(self.stage.host.asked, [], "whoever streams has answered")
        self.assertEqual(
            await self.shown("/parts"),
            ["?hm", "+first", "first", "+sec", "+ond", "second", "[image]", "+third", "+  ", "third  "],
        )
        shown = await self.shown("/cut")
        self.assertEqual(shown[:2], ["+as far as", "as far as"])
        self.assertIn("the line is dead", shown[2])

    async def test_results_that_are_streams(self) -> None:
        """As upstream: no hook decorates them; the handler goes on when all of it is said."""
        body = """
            async def words(self, *texts):
                for text in texts:
                    yield MessageChain().message(text)
            @filter.command("yielded")
            async def yielded(self, event):
                yield MessageEventResult().set_result_content_type(ResultContentType.STREAMING_RESULT).set_async_stream(self.words("a", "b"))
                yield event.plain_result("after")
            @filter.command("set")
            async def set_(self, event):
                event.set_result(MessageEventResult().set_async_stream(self.words("c")))
            @filter.on_decorating_result()
            async def decorate(self, event):
                event.get_result().chain.append(Plain("!"))
        """
        await self.stage.load(self.write(body, head=KINDS))
        self.assertEqual(await self.shown("/yielded"), ["+a", "+b", "ab", "after!"])
        self.assertEqual(await self.shown("/set"), ["+c", "c"])

    async def test_models_in_pieces(self) -> None:
        """`text_chat_stream` into `send_streaming`; loops hand out deltas when they are asked to stream."""
        body = """
            from astrbot.core.agent.runners.tool_loop_agent_runner import ToolLoopAgentRunner
            from astrbot.core.astr_agent_context import AgentContextWrapper, AstrAgentContext
            from astrbot.core.provider.entities import ProviderRequest
            @filter.command("model")
            async def model(self, event):
                provider = self.context.get_using_provider()
                async def chains():
                    async for reply in provider.text_chat_stream(prompt="p"):
                        if reply.is_chunk:
                            kind = "reasoning" if reply.reasoning_content else None
                            yield MessageChain(type=kind).message(reply.reasoning_content or reply.completion_text)
                        else:
                            self.whole = reply.completion_text
                await event.send_streaming(chains())
                await event.send(MessageChain().message(self.whole))
            @filter.command("loop")
            async def loop(self, event):
                answer = await self.context.tool_loop_agent(
                    event=event, chat_provider_id="stub", prompt="p", stream=True)
                yield event.plain_result(answer.completion_text)
            @filter.command("runner")
            async def runner(self, event):
                runner = self.ToolLoopAgentRunner()
                await runner.reset(
                    provider=self.context.get_using_provider(), request=self.ProviderRequest(prompt="p"),
                    run_context=self.AgentContextWrapper(
                        context=self.AstrAgentContext(context=self.context, event=event)),
                    streaming=True)
                async def chains():
                    async for step in runner.step_until_done(3):
                        if step.type == "streaming_delta":
                            yield step.data["chain"]
                await event.send_streaming(chains())
        """
        await self.stage.load(self.write(body))
        thinking = [{"text": "two words", "reasoning": "hm"}]
        streamed = ["?hm", "+two ", "+words", "two words"]
        self.assertEqual(await self.shown("/model", llm=thinking), [*streamed, "two words"])
        self.assertEqual(await self.shown("/loop", llm=thinking), ["two words"])
        loops = [arguments for name, arguments in self.stage.rig.calls if name == "agent_loop"]
        self.assertIs(loops[-1]["stream"], True)
        self.assertEqual(await self.shown("/runner", llm=thinking), streamed)

    async def test_a_stream_that_was_chosen_is_not_changed(self) -> None:
        """Hooks change an answer that is sent whole; one for which a stream was chosen they only hear of."""
        body = """
            @filter.command("chosen", alias={"whole"})
            async def choose(self, event):
                event.set_extra("enable_streaming", "chosen" in event.message_str)
                yield event.request_llm(prompt="p")
            @filter.on_llm_response()
            async def response(self, event, response):
                response.completion_text = response.completion_text.upper()
            @filter.on_decorating_result()
            async def decorate(self, event):
                result = event.get_result()
                self.kind = result.result_content_type.name
                result.chain.append(Plain("!"))
                result.set_result_content_type(ResultContentType.LLM_RESULT)
        """
        await self.stage.load(self.write(body, head=KINDS))
        self.assertEqual(await self.shown("/whole", llm=[{"text": "yes"}]), ["YES!"])
        self.assertEqual(await self.stage.py("return star.kind"), "'LLM_RESULT'")
        self.assertEqual(await self.shown("/chosen", llm=[{"text": "yes"}]), ["yes"])
        self.assertEqual(await self.stage.py("return star.kind"), "'STREAMING_FINISH'")
        await self.stage.py("ctx.get_config()['provider_settings']['streaming_response'] = True")
        self.assertEqual(await self.shown("hello", llm=[{"text": "yes"}]), ["yes"])

    async def test_a_hook_stops_what_it_decorates(self) -> None:
        body = """
            @filter.command("say")
            async def say(self, event):
                yield event.plain_result("never")
            @filter.on_decorating_result()
            async def decorate(self, event):
                event.stop_event()
        """
        await self.stage.load(self.write(body))
        self.assertEqual(await self.shown("/say"), [])
