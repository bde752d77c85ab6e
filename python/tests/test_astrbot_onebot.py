"""OneBot as AstrBot plugins know it: events, components, the client and what leaves."""

import json
from typing import Any

from test_astrbot_ai import Written

BOT, GROUP, ALICE, BOB = 9000, 700, 1001, 1002

WITNESS = """
    import aiocqhttp
    from astrbot.core.platform.sources.aiocqhttp.aiocqhttp_message_event import AiocqhttpMessageEvent
    from astrbot.core.platform.sources.aiocqhttp.aiocqhttp_platform_adapter import AiocqhttpAdapter
    import astrbot.api.message_components as Comp
    import json
    heard = []
    def __init__(self, context):
        super().__init__(context)
        self.first = [[one.meta().name, one.meta().id] for one in context.platform_manager.get_insts()]
        bot = context.get_platform("aiocqhttp").bot
        @bot.on_notice("group_ban")
        async def banned(event):
            self.heard.append(event.name)
    @filter.platform_adapter_type(filter.PlatformAdapterType.AIOCQHTTP)
    @filter.event_message_type(filter.EventMessageType.ALL)
    async def note(self, event):
        raw = event.message_obj.raw_message
        self.last = event
        self.seen = {
            "classes": [
                isinstance(event, self.AiocqhttpMessageEvent), isinstance(event.bot, self.aiocqhttp.CQHttp),
                isinstance(raw, self.aiocqhttp.Event), isinstance(raw, dict),
            ],
            "raw": [raw.post_type, raw.get("post_type"), raw.no_such_field, raw.name],
            "chain": [[type(one).__name__, {k: v for k, v in vars(one).items() if k not in ("type", "convert")}]
                      for one in event.get_messages()],
            "text": event.message_str, "sender": [event.get_sender_id(), event.get_sender_name()],
            "ids": [event.get_self_id(), event.get_group_id(), event.session_id, event.message_obj.message_id],
            "platform": [event.get_platform_name(), event.get_platform_id(), event.platform_meta.support_streaming_message],
            "group": event.message_obj.group and event.message_obj.group.group_name,
            "meant": event.is_at_or_wake_command,
        }
"""


class OneBot(Written):
    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.stage.host.settings["platforms"] = {"qq": "onebot"}
        self.asked: list[tuple[str, dict[str, Any], str | None]] = []
        self.answers: dict[str, Any] = {
            "get_msg": {"message_id": 5, "time": 7, "sender": {"user_id": BOT, "nickname": "Bot", "card": ""},
                        "message": [{"type": "text", "data": {"text": " quoted "}}]},
            "get_group_file_url": {"url": "https://files/a"},
        }
        self.stage.rig.methods["qq_call_action"] = self.call_action
        await self.stage.load(self.write(WITNESS))

    def call_action(self, action: str, parameters: dict[str, Any], account: str | None) -> dict[str, Any]:
        self.asked.append((action, parameters, account))
        if action not in self.answers:
            return {"status": "failed", "retcode": 1404, "data": None, "wording": f"no {action}"}
        answer = self.answers[action]
        return answer if isinstance(answer, dict) and "status" in answer else {"status": "ok", "retcode": 0, "data": answer}

    async def event(self, raw: dict[str, Any], parts: list[dict[str, Any]] | None = None) -> Any:
        """What the plugin has seen of it."""
        raw = {"self_id": BOT, "time": 7, **raw}
        group = raw.get("group_id") if raw.get("message_type") != "private" else None
        session = f"qq:GroupMessage:{group}" if group else f"qq:FriendMessage:{raw['user_id']}"
        message = {"id": "m", "session": session, "text": "", "parts": parts or [], "sender": {"id": str(raw.get("user_id"))}}
        adapter = {"kind": "onebot", "bot": str(BOT), "chat_name": None, "raw": raw}
        facts = {"role": "user", "row": 1 if raw["post_type"] == "message" else 0, "adapter": adapter}
        self.stage.host.sent.clear()
        self.verdict = await self.stage.rig.step("event", ref="e1", message=message, facts=facts)
        return json.loads(await self.py("return json.dumps(star.seen, default=str)"))

    async def said(self, *segments: dict[str, Any], parts: list[dict[str, Any]] | None = None, **more: Any) -> Any:
        raw = {"post_type": "message", "message_type": "group", "sub_type": "normal", "group_id": GROUP, "user_id": ALICE,
               "group_name": "Tea", "message_id": 55, "sender": {"user_id": ALICE, "nickname": "Alice", "card": "Al"},
               "message": list(segments), **more}
        return await self.event(raw, parts)

    async def py(self, source: str) -> Any:
        return eval(await self.stage.py(source))


def segment(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data}


class Events(OneBot):
    async def test_a_message_of_a_group(self) -> None:
        mention = {"type": "mention", "id": str(BOB), "name": "Bob"}
        seen = await self.said(
            segment("at", qq=str(BOT)), segment("text", text=" hi"), segment("text", text=" all "),
            segment("at", qq=str(BOB)), segment("at", qq="all"), parts=[mention],
        )  # fmt: skip
        self.assertEqual(seen["classes"], [True] * 4)
        self.assertEqual(seen["raw"], ["message", "message", None, "message.group.normal"])
        self.assertEqual(seen["platform"], ["aiocqhttp", "qq", False])
        self.assertEqual(seen["sender"], [str(ALICE), "Al"])
        self.assertEqual(seen["ids"], [str(BOT), str(GROUP), str(GROUP), "55"])
        self.assertEqual((seen["group"], seen["meant"]), ("Tea", True))
        self.assertEqual(seen["text"], "hi all @Bob(1002)")
        self.assertEqual(
            seen["chain"],
            [["At", {"qq": BOT, "name": ""}], ["Plain", {"text": "hi all"}], ["At", {"qq": BOB, "name": "Bob"}],
             ["At", {"qq": "all", "name": "全体成员"}]],
        )  # fmt: skip

    async def test_segments_are_the_components_of_astrbot(self) -> None:
        seen = await self.said(
            segment("image", file="a.png", url="https://x/a", type="flash", sub_type=1), segment("mface", id="1", url="https://x/f"),
            segment("video", file="v.mp4"), segment("record", file="r.amr"), segment("face", id="14"), segment("face", id="x"),
            segment("file", file="a.txt", file_id="/f"), segment("json", data='{"a": 1}'), segment("json", data="[1]"),
            segment("location", lat="1.5", lon="2"), segment("share", url="https://s", title="S"), {"type": "shake", "data": None},
            segment("poke", type="1", id="2"), segment("markdown", content="# m"), segment("music", type="qq", id="3"),
            segment("forward", id="f1"), segment("nobody_knows", a=1), {"type": 5}, "?",
        )  # fmt: skip
        self.assertEqual(
            seen["chain"],
            [["Image", {"file": "a.png", "url": "https://x/a", "path": "", "_type": "flash"}],
             ["Video", {"file": "v.mp4", "url": "", "cover": "", "path": ""}],
             ["Record", {"file": "r.amr", "url": "", "text": None, "path": None}], ["Face", {"id": 14}],
             ["File", {"name": "a.txt", "file_": "", "url": "https://files/a"}], ["Json", {"data": {"a": 1}}],
             ["Location", {"lat": 1.5, "lon": 2.0, "title": "", "content": ""}],
             ["Share", {"url": "https://s", "title": "S", "content": "", "image": ""}], ["Shake", {}],
             ["Poke", {"id": 2, "qq": 0, "_type": "1"}], ["Plain", {"text": "# m"}],
             ["Music", {"_type": "qq", "id": 3, "url": "", "audio": "", "title": "", "content": "", "image": ""}],
             ["Forward", {"id": "f1"}]],
        )  # fmt: skip

    async def test_what_a_reply_answers_is_asked_for(self) -> None:
        seen = await self.said(segment("reply", id="5"), segment("text", text="why?"))
        name, reply = seen["chain"][0]
        self.assertEqual((name, reply["sender_id"], reply["sender_nickname"], reply["message_str"]), ("Reply", BOT, "Bot", "quoted"))
        self.assertTrue(seen["meant"])
        self.assertEqual(self.asked[0], ("get_msg", {"message_id": 5, "self_id": BOT}, str(BOT)))
        del self.answers["get_msg"]
        seen = await self.said(segment("reply", id="5"), segment("text", text="why?"))
        self.assertEqual([seen["chain"][0][1][name] for name in ("id", "sender_id", "message_str")], ["5", 0, ""])

    async def test_files_are_read_where_the_host_has_put_them(self) -> None:
        (self.stage.rig.root / "kept.png").write_bytes(b"picture")
        self.stage.rig.methods["session_folders"] = lambda session: {"uploads": str(self.stage.rig.root), "shared": "/nowhere"}
        parts = [{"type": "image", "url": "/app/uploads/none.png"}, {"type": "image", "url": "/app/uploads/kept.png"}]
        await self.said(segment("mface", id="1"), segment("image", file="a.png", url="https://ended/a"), parts=parts)
        found = await self.py("return [await one.convert_to_base64() for one in star.last.get_messages()]")
        self.assertEqual(found, ["cGljdHVyZQ=="])

    async def test_a_message_with_cq_codes(self) -> None:
        seen = await self.said(message=f"[CQ:at,qq={BOT}] a &amp; b[CQ:face,id=1]")
        self.assertEqual([name for name, _ in seen["chain"]], ["At", "Plain", "Face"])
        self.assertEqual(seen["text"], "a & b")

    async def test_notices_are_events_that_no_model_answers(self) -> None:
        seen = await self.event({"post_type": "notice", "notice_type": "notify", "sub_type": "poke", "user_id": ALICE, "target_id": BOT})
        self.assertEqual(seen["chain"], [["Poke", {"id": BOT, "qq": 0}]])
        self.assertEqual((seen["sender"], seen["text"], seen["meant"]), ([str(ALICE), str(ALICE)], "", True))
        self.assertEqual(self.stage.host.asked, [])
        seen = await self.event({"post_type": "notice", "notice_type": "group_ban", "group_id": GROUP, "user_id": 0})
        self.assertEqual((seen["sender"][0], seen["ids"][1:3], seen["chain"]), ("0", [str(GROUP)] * 2, []))
        self.assertEqual(await self.py("return star.heard"), ["notice.group_ban"])

    async def test_a_model_may_be_asked_for_a_notice(self) -> None:
        body = """
            @filter.event_message_type(filter.EventMessageType.ALL)
            async def poked(self, event):
                if event.message_obj.raw_message.get("notice_type") == "notify":
                    yield event.request_llm(prompt="you were poked")
        """
        await self.stage.load(self.write(body, "poked"))
        self.stage.host.said, self.stage.host.script[:] = "", [{"text": "ouch"}]
        poke = {"post_type": "notice", "notice_type": "notify", "sub_type": "poke", "target_id": BOT}
        await self.event({**poke, "group_id": GROUP, "user_id": ALICE})
        self.assertEqual(self.stage.host.sent, [["ouch"]])
        turn = next(given for name, given in self.stage.rig.calls if name == "turn_run")
        self.assertIsNone(turn["row"])

    async def test_platforms_are_there_before_any_message(self) -> None:
        self.assertEqual(await self.py("return star.first"), [["aiocqhttp", "qq"]])
        found = await self.py(
            "from astrbot.api.event import filter\n"
            "one = ctx.get_platform_inst('qq')\n"
            "return [isinstance(one, star.AiocqhttpAdapter), ctx.get_platform(filter.PlatformAdapterType.AIOCQHTTP) is one,"
            " one.get_client() is one.bot, one.metadata.name, one.config['type']]"
        )
        self.assertEqual(found, [True, True, True, "aiocqhttp", "aiocqhttp"])


class Client(OneBot):
    async def call(self, source: str) -> Any:
        await self.said(segment("text", text="x"))
        self.asked.clear()
        return await self.py(f"event, bot = star.last, star.last.bot\n{source}")

    async def test_every_way_of_calling(self) -> None:
        self.answers["get_group_info"] = {"group_name": "Tea"}
        for call in (
            "bot.call_action('get_group_info', group_id=7)", "bot.call_action(action='get_group_info', group_id=7)",
            "bot.api.call_action('get_group_info', group_id=7)", "bot.get_group_info(group_id=7)",
            "bot.api.get_group_info(group_id=7)", "asyncio.to_thread(bot.sync.get_group_info, group_id=7)",
        ):  # fmt: skip
            with self.subTest(call):
                self.assertEqual(await self.call(f"return await {call}"), {"group_name": "Tea"})
                self.assertEqual(self.asked, [("get_group_info", {"group_id": 7}, None)])
        await self.call("return await bot.get_group_info(group_id=7, self_id=8)")
        self.assertEqual(self.asked, [("get_group_info", {"group_id": 7, "self_id": 8}, "8")])

    async def test_failures_are_those_of_aiocqhttp(self) -> None:
        caught = "try:\n    await bot.nothing()\nexcept star.aiocqhttp.{} as error:\n    return {}"
        self.assertEqual(
            await self.call(caught.format("ActionFailed", "[error.retcode, error.result['wording'], 'retcode=1404' in str(error)]")),
            [1404, "no nothing", True],
        )
        for status, name, words in (
            ("unreachable", "ApiNotAvailable", "nobody there"), ("no_answer", "NetworkError", "WebSocket API call timeout"),
        ):  # fmt: skip
            self.answers["nothing"] = {"status": status, "retcode": -1, "data": None, "wording": "nobody there"}
            self.assertEqual(await self.call(caught.format(name, "str(error)")), words)

    async def test_a_message_of_its_own(self) -> None:
        self.answers["send_msg"] = {"message_id": 1}
        source = "return await bot.send(event.message_obj.raw_message, star.aiocqhttp.MessageSegment.face(3), at_sender=True)"
        self.assertEqual(await self.call(source), {"message_id": 1})
        action, parameters, _ = self.asked[0]
        self.assertEqual((action, parameters["group_id"], parameters["message_type"]), ("send_msg", GROUP, "group"))
        self.assertEqual([one["type"] for one in parameters["message"]], ["at", "text", "face"])

    async def test_a_group_is_asked_of_the_platform(self) -> None:
        self.answers["get_group_info"] = {"group_name": "Tea"}
        self.answers["get_group_member_list"] = [
            {"user_id": ALICE, "nickname": "", "card": "Al", "role": "owner"}, {"user_id": BOB, "nickname": "Bob", "role": "admin"},
        ]  # fmt: skip
        group = await self.call("group = await event.get_group()\nreturn {**vars(group), 'members': [vars(one) for one in group.members]}")
        self.assertEqual(
            group,
            {"group_id": str(GROUP), "group_name": "Tea", "group_avatar": "", "group_owner": str(ALICE), "group_admins": [BOB],
             "members": [{"user_id": ALICE, "nickname": "Al"}, {"user_id": BOB, "nickname": "Bob"}]},
        )  # fmt: skip


class Leaving(OneBot):
    async def send(self, chain: str) -> list[Any]:
        await self.said(segment("text", text="x"))
        self.asked.clear()
        await self.py(
            "from astrbot.api.event import MessageChain\nComp = star.Comp\n"
            f"await star.last.send(MessageChain({chain}))"
        )
        return [part for message in self.stage.host.sent for part in message]

    async def test_components_leave_as_the_platform_knows_them(self) -> None:
        sent = await self.send(
            "[Comp.At(qq=1002), Comp.Plain('hi'), Comp.Face(id=3), Comp.Dice(), Comp.Share(url='https://s', title='S'),"
            " Comp.Contact(_type='qq', id=5), Comp.Json({'a': 1}), Comp.Video(file='https://v'), Comp.Forward(id='f'),"
            " Comp.Poke(id=7), Comp.Image(file='a.png', url='https://x/a')]"
        )
        self.assertEqual(
            sent,
            [{"type": "mention", "id": "1002", "name": ""}, " ", "hi", {"type": "face", "id": "3"},
             {"type": "other", "kind": "dice", "data": {}},
             {"type": "other", "kind": "share", "data": {"url": "https://s", "title": "S", "content": "", "image": ""}},
             {"type": "other", "kind": "contact", "data": {"type": "qq", "id": 5}},
             {"type": "other", "kind": "json", "data": {"data": '{"a": 1}'}}, {"type": "video", "url": "https://v"},
             {"type": "other", "kind": "forward", "data": {"id": "f"}},
             {"type": "other", "kind": "poke", "data": {"type": "126", "id": "7"}}, {"type": "image", "url": "https://x/a"}],
        )  # fmt: skip

    async def test_messages_passed_on_together(self) -> None:
        sent = await self.send("[Comp.Nodes([Comp.Node(uin='0', name='A', content=[Comp.Plain('one')])])]")
        self.assertEqual(sent, [{"type": "forward", "messages": [{"name": "A", "text": "one"}]}])
        sent = await self.send("[Comp.Plain('see'), Comp.Node(uin='1002', name='Bob', content=[Comp.Plain('one'), Comp.Face(id=1)])]")
        # The host sends them, as anything else: nothing is asked of the platform here.
        parts = [{"type": "text", "text": "one"}, {"type": "face", "id": "1"}]
        passed_on = {"type": "forward", "messages": [{"name": "Bob", "text": "", "id": "1002", "parts": parts}]}
        self.assertEqual(sent, ["see", passed_on])
        self.assertEqual(self.asked, [])
        inner = "Comp.Node(uin='0', name='A', content=[Comp.Image.fromBase64('QUJD')])"
        [nested] = await self.send(f"[Comp.Node(uin='0', name='B', content=[{inner}])]")
        picture = {"type": "image", "url": "data:image/png;base64,QUJD"}
        within = {"type": "forward", "messages": [{"name": "A", "text": "", "parts": [picture]}]}
        self.assertEqual(nested["messages"], [{"name": "B", "text": "", "parts": [within]}])

    async def test_a_chain_as_segments(self) -> None:
        made = await self.send("[Comp.Plain('x')]") and await self.py(
            "from astrbot.api.event import MessageChain\nComp = star.Comp\n"
            "chain = MessageChain([Comp.Plain(' '), Comp.At(qq=5), Comp.Plain('a'), Comp.Image.fromBase64('QUJD')])\n"
            "return await star.AiocqhttpMessageEvent._parse_onebot_json(chain)"
        )
        self.assertEqual(
            made, [segment("at", qq="5"), segment("text", text=" "), segment("text", text="a"), segment("image", file="base64://QUJD")]
        )
        await self.py(
            "from astrbot.api.event import MessageChain\n"
            "await star.AiocqhttpMessageEvent.send_message(bot=star.last.bot, message_chain=MessageChain().message('there'),"
            " is_group=True, session_id='8')"
        )
        self.assertEqual(self.stage.rig.calls[-1], ("message_send", {"session": "qq:GroupMessage:8", "parts": [{"type": "text", "text": "there"}]}))
