"""OneBot as Nekro plugins know it: adapter key, bot, and rows of a platform that the operator named otherwise."""

from typing import Any

from nekro_host import Scene

CHAT = "qq-group_123"


class OneBot(Scene):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.asked: list[tuple[str, dict[str, Any], str | None]] = []
        self.answers: dict[str, Any] = {"get_login_info": {"user_id": 9000, "nickname": "Bot"}}
        self.rig.methods["qq_call_action"] = self.call_action
        self.rig.methods["settings_get"] = lambda: {"platforms": {"qq": "onebot"}}
        self.host.add("user", username="Alice", adapter_key="qq", platform_userid="42", perm_level=1)
        self.context = self.host.context(chat_key=CHAT)
        await self.plugin("")

    def call_action(self, action: str, parameters: dict[str, Any], account: str | None) -> dict[str, Any]:
        self.asked.append((action, parameters, account))
        if action not in self.answers:
            return {"status": "failed", "retcode": 1404, "data": None, "wording": f"no {action}"}
        answer = self.answers[action]
        return answer if "status" in answer else {"status": "ok", "retcode": 0, "data": answer}

    async def test_the_adapter_is_known_whatever_the_platform_is_called(self) -> None:
        told = await self.run_in("""
            from nekro_agent.adapters import get_adapter
            from nekro_agent.adapters.onebot_v11.adapter import OnebotV11Adapter
            from nekro_agent.adapters.utils import adapter_utils
            from nekro_agent.models.db_user import DBUser
            adapter = await adapter_utils.get_adapter_for_chat(ctx.chat_key)
            return [ctx.adapter_key, ctx.chat_key, ctx.adapter.metadata.name, isinstance(adapter, OnebotV11Adapter),
                    get_adapter("onebot_v11") is adapter, adapter.build_chat_key("group_5"), adapter.parse_chat_key(ctx.chat_key),
                    (await DBUser.get_by_union_id(ctx.adapter_key, "42")).adapter_key, ctx.db_user.username]
        """)
        self.assertEqual(
            eval(told),
            ["onebot_v11", CHAT, "OneBot V11", True, True, "qq-group_5", ("onebot_v11", "group_123"), "onebot_v11", "Alice"],
        )

    async def test_a_chat_key_made_of_the_adapter_key_is_understood(self) -> None:
        await self.run_in('await ctx.ms.send_text(f"{ctx.adapter_key}-group_5", "hi", ctx)')
        self.assertEqual(self.host.sent[0]["session"], "qq-group_5")

    async def test_what_a_message_says_of_its_chat_is_known_afterwards(self) -> None:
        said = {"id": "1", "text": "hi", "parts": [{"type": "text", "text": "hi"}], "self_id": "9001", "chat_name": "Tea"}
        await self.rig.step("message", context=self.context, message=said)
        told = await self.run_in("return [ctx.channel_name, (await ctx.get_onebot_v11_bot()).self_id]")
        self.assertEqual(eval(told), ["Tea", "9001"])
        self.assertEqual(self.asked, [])

    async def test_the_bot_is_that_of_nonebot(self) -> None:
        self.answers |= {"send_msg": {"message_id": 1}, "get_group_info": {"group_name": "Tea"}}
        told = await self.run_in("""
            from nonebot.adapters.onebot.v11 import Bot, Message, MessageSegment
            from nekro_agent.adapters.onebot_v11.core.bot import get_bot
            bot = await ctx.get_onebot_v11_bot()
            message = MessageSegment.at(42) + "hi"
            return [isinstance(bot, Bot), bot.self_id, get_bot() is bot, await bot.get_group_info(group_id=5),
                    await bot.call_api("send_msg", group_id=5, message=message),
                    (await ctx.adapter.get_channel_info("group_5")).channel_name, (await ctx.adapter.get_self_info()).user_id]
        """)
        self.assertEqual(eval(told), [True, "9000", True, {"group_name": "Tea"}, {"message_id": 1}, "Tea", "9000"])
        sent = next(parameters for action, parameters, _ in self.asked if action == "send_msg")
        self.assertEqual(
            sent["message"], [{"type": "at", "data": {"qq": "42"}}, {"type": "text", "data": {"text": "hi"}}]
        )

    async def test_failures_are_those_of_nonebot(self) -> None:
        source = """
            from nonebot.adapters.onebot.v11 import ActionFailed, ApiNotAvailable, NetworkError
            try:
                await (await ctx.get_onebot_v11_bot()).nothing()
            except (ActionFailed, ApiNotAvailable, NetworkError) as error:
                return [type(error).__name__, getattr(error, "info", {}).get("retcode"), getattr(error, "msg", None)]
        """
        self.assertEqual(eval(await self.run_in(source)), ["ActionFailed", 1404, None])
        for status, name, words in (("unreachable", "ApiNotAvailable", None), ("no_answer", "NetworkError", "late")):
            self.answers["nothing"] = {"status": status, "retcode": -1, "data": None, "wording": "late"}
            self.assertEqual(eval(await self.run_in(source)), [name, None, words])
