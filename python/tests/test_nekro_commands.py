"""Commands: arguments, permissions, answers, waiting."""

import asyncio
import unittest

from nekro_host import CHAT, HEAD, Scene

COMMANDS = """
@plugin.mount_command("roll", "Rolls", aliases=["r", "掷骰"], permission=CommandPermission.PUBLIC)
async def roll(context: CommandExecutionContext,
               sides: Annotated[int, Arg("sides", positional=True, range=(2, 100))],
               times: Annotated[int, Arg("times", positional=True)] = 1,
               secret: bool = False,
               mode: Annotated[str, Arg("mode", choices=["fast", "slow"])] = "fast") -> CommandResponse:
    return CmdCtl.success(f"{sides} {times} {secret} {mode}")

@plugin.mount_command("say_it", "Says", usage="say_it <text>")
async def say_it(context, text: Annotated[str, Arg("text", positional=True, greedy=True)] = "nothing"):
    yield CmdCtl.message("wait")
    yield CmdCtl.success(text)

@plugin.mount_command("tag", "Tags")
async def tag(context, name: str = Arg("name", default="x"), rest: str = Arg("rest", greedy=True, default="")):
    return CmdCtl.success(f"{name}|{rest}")

@plugin.mount_command("secret", "For few", permission=CommandPermission.SUPER_USER)
async def secret(context):
    return CmdCtl.success(f"{context.is_super_user} {context.user_id} {context.username} {context.chat_key}")

@plugin.mount_command("better", "For some", permission="advanced")
async def better(context):
    return CmdCtl.success("ok")

@plugin.mount_command("bad", "Fails")
async def bad(context, how: str = "value"):
    raise ValueError("wrong number") if how == "value" else RuntimeError()

@plugin.mount_command("told", "Fails politely")
async def told(context):
    return CmdCtl.failed(i18n.i18n_text(zh_CN="不行", en_US="no"))

group = plugin.mount_command_group("conf", "Settings", permission=CommandPermission.SUPER_USER)

@group.command("set", "Sets", aliases=["s"])
async def conf_set(context, key: Annotated[str, Arg(positional=True)], value: Annotated[str, Arg(positional=True)]):
    return CmdCtl.success(f"{key}={value}")

@group.command("show", "Shows", permission=CommandPermission.PUBLIC)
async def conf_show(context):
    return CmdCtl.success("shown")

@plugin.mount_command("quiz", "Asks")
async def quiz(context):
    return CmdCtl.wait("Which?", callback_cmd="quiz_answer", options=["a", "b"], timeout=60, context_data={"n": "7"})

@plugin.mount_command("quiz_answer", "Hears", internal=True)
async def quiz_answer(context, answer: Annotated[str, Arg(positional=True)], n: str = ""):
    return CmdCtl.success(f"{answer} {n}")

@plugin.mount_command("hurry", "Gives up soon")
async def hurry(context):
    return CmdCtl.wait("Well?", callback_cmd="quiz_answer", timeout=0.05, on_timeout_message="too late")
"""


class Commands(Scene):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.loaded = await self.plugin(COMMANDS)

    async def test_arguments_by_place_and_by_name(self) -> None:
        self.assertEqual(await self.type("roll", "6"), [["success", "6 1 False fast"]])
        self.assertEqual(await self.type("roll", "6 3 secret:yes mode:slow"), [["success", "6 3 True slow"]])
        self.assertEqual(await self.type("roll", 'mode:"slow" sides:20'), [["success", "20 1 False slow"]])
        self.assertEqual(await self.type("say_it", 'a "b c"  d'), [["processing", "wait"], ["success", 'a "b c"  d']])
        self.assertEqual((await self.type("say_it"))[1], ["success", "nothing"])
        self.assertEqual(await self.type("tag", "name:n the rest of it"), [["success", "n|the rest of it"]])

    async def test_wrong_arguments_are_explained(self) -> None:
        for given, told in {
            "": "还缺 sides (sides)", "x": "sides 要填整数", "1": "sides 最小 2，最大 100",
            "6 mode:x": "mode 只能是 ['fast', 'slow']",
        }.items():
            self.assertEqual(await self.type("roll", given), [["invalid_args", f"这样写不行：{told}"]], given)

    async def test_names_aliases_and_namespaces(self) -> None:
        for name in ("r", "掷骰", "probe:roll", "probe:r"):
            self.assertEqual((await self.type(name, "6"))[0][0], "success", name)
        self.assertEqual((await self.type("say-it", "x"))[1], ["success", "x"])
        self.assertEqual((await self.type("nothing"))[0][0], "not_found")
        head = HEAD.replace('"probe"', '"other"')
        await self.rig.load(self.write("other.py", COMMANDS, head))
        status, told = (await self.type("roll", "6"))[0]
        self.assertEqual(status, "not_found")
        self.assertIn("probe:roll, other:roll", told)
        self.assertEqual((await self.type("other:roll", "6"))[0][0], "success")
        await self.rig.step("disabled", plugin="me.other")
        self.assertEqual((await self.type("other:roll", "6"))[0][0], "disabled")

    async def test_permissions_follow_the_role(self) -> None:
        self.assertEqual(await self.type("secret"), [["unauthorized", "此命令仅限超级用户使用"]])
        self.assertEqual(await self.type("secret", role="operator"), [["success", f"True 42 Alice {CHAT}"]])
        self.assertEqual(await self.type("better"), [["unauthorized", "这条命令只给有高级权限的人用"]])
        self.assertEqual(await self.type("better", role="operator"), [["success", "ok"]])
        self.assertEqual((await self.type("conf.set", "a b"))[0][0], "unauthorized")
        self.assertEqual(await self.type("conf.s", "a b", role="operator"), [["success", "a=b"]])
        self.assertEqual(await self.type("conf.show"), [["success", "shown"]])

    async def test_people_are_answered_in_their_language(self) -> None:
        """Without a message of theirs, as here in scenarios, the system's language counts."""
        for said, told in (
            ("/roll x", "That does not fit: sides is a whole number"),
            ("/掷骰 x", "这样写不行：sides 要填整数"),
            (None, "这样写不行：sides 要填整数"),
        ):
            asked = {"context": self.context, "name": "roll", "raw_args": "x", "said": said}
            answers = [it["message"] async for it in self.rig.steps("command", **asked)]
            self.assertEqual(answers, [told], said)

    async def test_errors_are_answers(self) -> None:
        self.assertEqual(await self.type("bad"), [["invalid_args", "这样写不行：wrong number"]])
        self.assertEqual(await self.type("bad", "how:other"), [["error", "命令没能做完：RuntimeError"]])
        self.assertEqual(await self.type("told"), [["error", "不行"]])

    async def test_they_are_described(self) -> None:
        roll = next(it for it in self.loaded["commands"] if it["name"] == "roll")
        self.assertEqual((roll["aliases"], roll["permission"], roll["internal"]), (["r", "掷骰"], "public", False))
        self.assertEqual(roll["parameters"]["required"], ["sides"])
        self.assertEqual(roll["parameters"]["properties"]["sides"], {"type": "integer", "description": "sides"})
        self.assertIn("conf.set", [it["name"] for it in self.loaded["commands"]])

    async def test_the_next_message_of_the_same_person_is_the_answer(self) -> None:
        steps = [it async for it in self.rig.steps("command", context=self.context, name="quiz", raw_args="")]
        self.assertEqual(steps[0]["parts"], [{"type": "text", "text": "Which?\n可以回答：a / b"}])
        self.assertTrue(steps[0]["waits"])
        self.assertEqual((await self.say("c", user="43"))["signal"], "CONTINUE", "somebody else")
        self.assertEqual(await self.say("b"), {"signal": "BLOCK_TRIGGER", "taken": True})
        self.assertEqual(self.host.sent[0]["parts"], [{"type": "text", "text": "b 7"}])
        self.assertEqual((await self.say("b"))["signal"], "CONTINUE", "once")
        await self.type("quiz")
        await self.type("told")
        self.assertEqual((await self.say("b"))["signal"], "CONTINUE", "another command ends the waiting")

    async def test_waiting_ends(self) -> None:
        await self.type("hurry")
        for _ in range(100):
            if self.host.pushed:
                break
            await asyncio.sleep(0.02)
        self.assertEqual(self.host.pushed[0]["text"], "too late")
        self.assertEqual((await self.say("b"))["signal"], "CONTINUE")


class Rich(Scene):
    async def test_images_and_files_of_an_answer(self) -> None:
        (self.host.root / "shared" / "p.png").write_bytes(b"x")
        await self.plugin("""
            from nekro_agent.services.command.schemas import CommandOutputSegment as S, CommandOutputSegmentType as T

            @plugin.mount_command("show", "Shows")
            async def show(context):
                return CmdCtl.success([S(type=T.TEXT, text="look"), S(type=T.IMAGE, file_path="/app/shared/p.png"),
                                       S(type=T.FILE, web_url="https://example.org/f.txt")])
        """)
        step, *_ = [it async for it in self.rig.steps("command", context=self.context, name="show", raw_args="")]
        self.assertEqual(step["message"], "look")
        self.assertEqual(step["parts"], [
            {"type": "text", "text": "look"}, {"type": "image", "url": "/app/shared/p.png"},
            {"type": "file", "name": "f.txt", "url": "https://example.org/f.txt"},
        ])

    async def test_the_older_form_works(self) -> None:
        await self.plugin("""
            from nekro_agent.adapters.onebot_v11.matchers.command import command_guard, finish_with, on_command

            @on_command("old", aliases={"oldie"}, priority=5, block=True).handle()
            async def _(matcher, event, bot, arg):
                username, text, chat_key, chat_type = await command_guard(event, bot, arg, matcher)
                await matcher.send("first")
                await finish_with(matcher, f"{username} {text} {chat_type.value} {event.group_id}")
        """)
        told = await self.type("oldie", "a b", role="operator")
        self.assertEqual(told, [["processing", "first"], ["success", "Alice a b group 123"]])
        self.assertEqual((await self.type("old"))[0][0], "unauthorized")


if __name__ == "__main__":
    unittest.main()


class Matchers(Scene):
    PLUGIN = """
        from nonebot import on_command
        from nonebot.adapters.onebot.v11 import Bot, GroupMessageEvent, Message, MessageEvent, MessageSegment
        from nonebot.matcher import Matcher
        from nonebot.params import CommandArg
        from nekro_agent.adapters.onebot_v11.matchers.command import finish_with

        @on_command("draw", aliases={"d"}, priority=5, block=True).handle()
        async def draw(matcher: Matcher, event: MessageEvent, bot: Bot, arg: Message = CommandArg()):
            await matcher.send(f"drawing {arg.extract_plain_text()} for {event.sender.nickname}")
            if not isinstance(event, GroupMessageEvent):
                await matcher.finish("only in groups")
            await bot.send(event, MessageSegment.image("https://x/y.png") + f" {event.group_id} {event.user_id}")
            await finish_with(matcher, message="done")
    """

    async def test_a_matcher_of_nonebot_hears_messages_and_answers(self) -> None:
        loaded = await self.plugin(self.PLUGIN)
        self.assertIn("message", loaded["hooks"])
        self.assertEqual((await self.say("draw a cat"))["signal"], "CONTINUE")
        self.assertTrue((await self.say("/d a cat"))["taken"])
        said = [[part.get("text") or part["url"] for part in it["parts"]] for it in self.host.sent]
        self.assertEqual(said, [["drawing a cat for Al"], ["https://x/y.png", " 123 42"], ["done"]])
        self.assertEqual({it["session"] for it in self.host.sent}, {CHAT})
        await self.rig.step("unload", plugin="me.probe")
        self.assertEqual((await self.say("/draw a cat"))["signal"], "CONTINUE")
