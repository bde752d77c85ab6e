"""Hooks: what plugins say of messages, add to prompts, and hear of."""

import unittest

from nekro_host import HEAD, Scene, StepError

HOOK = """
@plugin.mount_on_user_message()
async def hear(ctx, message):
    {body}
"""


class Signals(Scene):
    async def hooks(self, **bodies: str) -> None:
        for name, body in bodies.items():
            head = HEAD.replace('"probe"', f'"{name}"')
            await self.rig.load(self.write(f"{name}.py", HOOK.format(body=body), head))

    async def test_hiding_wins_then_forcing_then_keeping_quiet(self) -> None:
        await self.hooks(a="return None", b="return MsgSignal.BLOCK_TRIGGER")
        self.assertEqual((await self.say("hi"))["signal"], "BLOCK_TRIGGER")
        await self.hooks(c="return MsgSignal.FORCE_TRIGGER")
        self.assertEqual((await self.say("hi"))["signal"], "FORCE_TRIGGER")
        await self.hooks(d="return MsgSignal.BLOCK_ALL")
        self.assertEqual((await self.say("hi"))["signal"], "BLOCK_ALL")

    async def test_one_that_raises_does_not_silence_the_rest(self) -> None:
        await self.hooks(a="raise RuntimeError('oh')", b="import sys; sys.exit(3)",
                         c="return MsgSignal.BLOCK_TRIGGER")
        self.assertEqual((await self.say("hi"))["signal"], "BLOCK_TRIGGER")
        self.assertEqual((await self.say("hi"))["signal"], "BLOCK_TRIGGER")

    async def test_a_hook_sees_the_message_and_may_change_it(self) -> None:
        seen = """await plugin.store.set(store_key="seen", value=message.model_dump_json())
    message.content_text = message.content_text.upper()"""
        await self.hooks(a=seen, b="message.content_text += '!'")
        self.assertEqual((await self.say("hi"))["text"], "HI!")
        told = self.host.data_get(plugin="me.a", chat="", user="", name="seen") or ""
        for part in ('"sender_id":"42"', '"sender_name":"Alice"', '"sender_nickname":"Al"', '"chat_type":"group"',
                     '"is_tome":1', '"send_timestamp":5', '"message_id":"m1"', '"content_text":"hi"'):
            self.assertIn(part, told)

    async def test_images_files_and_mentions_arrive_as_segments(self) -> None:
        await self.hooks(a="await plugin.store.set(store_key='s', value=repr([(s.type, s.text) for s in message.content_data]))")
        parts = [{"type": "mention", "id": "7", "name": "Bob"}, {"type": "image", "url": "/app/uploads/c.png"},
                 {"type": "file", "name": "d.pdf", "url": "https://example.org/d"}]
        await self.rig.step("message", context=self.context, message={"id": "1", "parts": parts})
        told = self.host.data_get(plugin="me.a", chat="", user="", name="s")
        self.assertEqual(told, "[('at', '@Bob'), ('image', '[Image: c.png]'), ('file', '[File: d.pdf]')]")

    async def test_system_messages_and_resets_reach_their_hooks(self) -> None:
        await self.plugin("""
            @plugin.mount_on_system_message()
            async def system(ctx, text):
                return MsgSignal.BLOCK_ALL if "secret" in text else None

            @plugin.mount_on_channel_reset()
            async def reset(ctx):
                await plugin.store.set(store_key="reset", value=ctx.chat_key)
        """)
        step = self.rig.step
        self.assertEqual(await step("system_message", context=self.context, text="secret"), {"signal": "BLOCK_ALL"})
        self.assertEqual(await step("system_message", context=self.context, text="open"), {"signal": "CONTINUE"})
        await step("reset", context=self.context)
        self.assertEqual(self.host.data_get(plugin="me.probe", chat="", user="", name="reset"), self.context["chat_key"])


class Collecting(Scene):
    async def collect(self) -> dict:
        return await self.rig.step("collect", context=self.context)

    async def load(self, name: str, source: str, **kw: str) -> None:
        head = HEAD.replace('"probe"', f'"{name}"')
        if kw:
            given = ", ".join(f"{key}={value}" for key, value in kw.items())
            head = head.replace('"https://example.org"', f'"https://example.org", {given}')
        await self.rig.load(self.write(f"{name}.py", source, head))

    async def test_all_injections_of_a_round_come_together(self) -> None:
        inject = "@plugin.mount_prompt_inject_method('p')\nasync def p(ctx):\n    {}"
        await self.load("a", inject.format("return 'one for ' + ctx.chat_key"))
        await self.load("b", inject.format("raise RuntimeError('no')"))
        await self.load("c", inject.format("return ''"))
        found = await self.collect()
        self.assertEqual(found["prompts"], [{"plugin": "me.a", "text": "one for onebot_v11-group_123"}])
        self.assertEqual(found["methods"], [])

    async def test_a_plugin_chooses_its_methods_per_chat(self) -> None:
        source = '''
            @plugin.mount_sandbox_method(SandboxMethodType.TOOL, "a")
            async def one(ctx):
                """One."""

            @plugin.mount_sandbox_method(SandboxMethodType.TOOL, "b")
            async def two(ctx):
                """Two."""

            @plugin.mount_collect_methods()
            async def choose(ctx):
                return [one] if ctx.channel_type == "group" else [one, two]
        '''
        await self.plugin(source)
        self.assertEqual((await self.collect())["methods"], [{"plugin": "me.probe", "names": ["one"]}])
        self.context = self.host.context(chat_key="onebot_v11-private_5")
        self.assertEqual((await self.collect())["methods"], [{"plugin": "me.probe", "names": ["one", "two"]}])
        self.assertIsNone(await self.call("two", context=self.host.context()), "hidden, but callable")

    async def test_one_for_another_platform_is_hidden_where_that_is_known(self) -> None:
        inject = "@plugin.mount_prompt_inject_method('p')\nasync def p(ctx):\n    return 'here'"
        await self.load("a", inject, support_adapter="['discord']")
        self.assertEqual(await self.collect(), {"prompts": [], "methods": [{"plugin": "me.a", "names": []}]})
        self.context = self.host.context(chat_key="cli-private_5")
        self.assertEqual(len((await self.collect())["prompts"]), 1, "our own platforms are everybody's")

    async def test_a_sleeper_shows_its_brief_until_it_is_woken(self) -> None:
        inject = "@plugin.mount_prompt_inject_method('p')\nasync def p(ctx):\n    return 'awake'"
        await self.load("lazy", inject, allow_sleep="True", sleep_brief="'does little'")
        self.assertEqual((await self.collect())["prompts"][0]["text"], "awake", "nobody could wake it")
        await self.load("waker", '''
            from nekro_agent.services.plugin.prompt_activation import activate_module_for_chat

            @plugin.mount_sandbox_method(SandboxMethodType.AGENT, "activate")
            async def activate_plugin(ctx, module_name: str, rounds: int = 0) -> str:
                """Wakes."""
                return str(await activate_module_for_chat(ctx.chat_key, module_name, rounds))
        ''')
        asleep = await self.collect()
        self.assertIn("does little", asleep["prompts"][0]["text"])
        self.assertEqual(asleep["methods"], [{"plugin": "me.lazy", "names": []}])
        await self.call("activate_plugin", "lazy", 1, plugin="me.waker")
        self.assertEqual((await self.collect())["prompts"][0]["text"], "awake")
        self.assertIn("does little", (await self.collect())["prompts"][0]["text"])


class Background(Scene):
    async def test_a_webhook_reaches_a_plugin_with_the_endpoint(self) -> None:
        await self.plugin("""
            @plugin.mount_webhook_method("push", "Push")
            async def push(ctx):
                request = ctx.webhook_request
                if "fail" in request.body:
                    raise ValueError("bad body")
                await plugin.store.set(store_key="got", value=request.headers["x-event"] + str(request.body))
        """)
        given = {"plugin": "me.probe", "endpoint": "push", "headers": {"X-Event": "e"}}
        await self.rig.step("webhook", **given, body={"a": 1})
        self.assertEqual(self.host.data_get(plugin="me.probe", chat="", user="", name="got"), "e{'a': 1}")
        with self.assertRaisesRegex(StepError, "bad body"):
            await self.rig.step("webhook", **given, body={"fail": 1})
        with self.assertRaisesRegex(StepError, "no webhook none"):
            await self.rig.step("webhook", **{**given, "endpoint": "none"}, body={})

    async def test_tasks_report_wait_and_end(self) -> None:
        await self.plugin("""
            @plugin.mount_async_task("work")
            async def work(handle, word):
                yield TaskCtl.report_progress("begun", 10)
                answer = await handle.wait("go")
                await handle.notify_agent(f"{word} {answer}")
                yield TaskCtl.success("done", data=answer)

            @plugin.mount_async_task("broken")
            async def broken(handle):
                raise ValueError("no")
                yield
        """)
        told = await self.run_in("""
            from nekro_agent.api.plugin import task
            ended = []
            handle = await task.start("work", "1", ctx.chat_key, plugin, "well", on_terminal=ended.append)
            await asyncio.sleep(0.01)
            first = task.get_state("work", "1").message, task.is_running("work", "1"), task.get_running_tasks()
            handle.notify("go", "done")
            await asyncio.sleep(0.05)
            await task.start("broken", "2", ctx.chat_key, plugin)
            await asyncio.sleep(0.01)
            await task.start("work", "3", ctx.chat_key, plugin, "x")
            await asyncio.sleep(0.01)
            return (first, ended[0].data, task.is_running("work", "1"), task.get_state("broken", "2").message,
                    await task.cancel("work", "3"), task.get_state("work", "3").signal.value)
        """)
        self.assertEqual(told, "(('begun', True, ['work:1']), 'done', False, 'no', True, 'cancel')")
        self.assertEqual(self.host.pushed[0]["text"], "well done")
        with self.assertRaisesRegex(StepError, "no task type 'other'; there are: work, broken"):
            await self.run_in("from nekro_agent.api.plugin import task\nawait task.start('other', '1', '', plugin)")

    async def test_the_host_sees_and_stops_tasks(self) -> None:
        await self.plugin("""
            @plugin.mount_async_task("work")
            async def work(handle):
                yield TaskCtl.report_progress("half", 50)
                await handle.wait("never")
        """)
        await self.run_in("from nekro_agent.api.plugin import task\nawait task.start('work', 'a:b', ctx.chat_key, plugin)\nawait asyncio.sleep(0.01)")
        rows = await self.rig.step("task", action="list")
        self.assertEqual([(it["type"], it["id"], it["plugin"], it["progress"]) for it in rows], [("work", "a:b", "me.probe", 50)])
        self.assertTrue(await self.rig.step("task", action="cancel", type="work", id="a:b"))
        self.assertEqual(await self.rig.step("task", action="list"), [])


if __name__ == "__main__":
    unittest.main()
