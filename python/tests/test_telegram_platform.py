"""Telegram through the real binary: what arrives keeps its parts, what leaves is as Telegram takes it (e2e/telegram)."""

import asyncio
import unittest
from typing import Any

from test_telegram import LONG, Telegram, setUpModule, telegram  # noqa: F401

ANN = 1001
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))


class Chats(Telegram):
    async def said(self, instance, session: str) -> list[dict[str, Any]]:
        """What people said in it, as it is on record."""
        shown = await instance.command("session", "show", session)
        return [row for row in shown["log"] if row["role"] == "user"]

    async def answers(self, chat: int, count: int) -> None:
        await self.world.until(lambda: len(self.world.texts(chat)) >= count, LONG)


class Arriving(Chats):
    async def test_messages_keep_their_parts(self) -> None:
        world = self.world
        bob = telegram("world").BOB
        async with self.server.serve() as address:
            instance = self.callgate()
            await instance.start(address)
            first = await world.say("😀 hello @gate_test_bot and @ann_bell")
            await self.answers(ANN, 1)
            ours = world.sent[-1].message
            origin = {"type": "user", "date": 1, "sender_user": bob}
            voice = {**world.keep("v.oga", b"OggS voice"), "duration": 1, "mime_type": "audio/ogg"}
            document = {**world.keep("d.txt", b"words"), "file_name": "a b.txt"}
            sticker = {**world.keep("s.webp", b"RIFF"), "type": "regular", "emoji": "😀", "is_animated": False}
            for number, content in enumerate((
                {"text": "to you", "reply_to_message": ours}, {"text": "as he said", "forward_origin": origin},
                {"voice": voice}, {"document": document, "caption": "read"}, {"sticker": sticker},
                {"location": {"latitude": 1.5, "longitude": 2.5}},
                {"text": "see this", "entities": [{"type": "text_link", "offset": 4, "length": 4, "url": "https://h/"}]},
                {"text": "hey Bob", "entities": [{"type": "text_mention", "offset": 4, "length": 3, "user": bob}]},
            )):  # fmt: skip
                await world.post(telegram("world").ANN, **content)
                await self.answers(ANN, number + 2)
            # What nobody said, and what was said already.
            await world.post(telegram("world").ANN, pinned_message=first)
            await world.edit(first, "changed")
            await world.say("last")
            await self.answers(ANN, 10)
            rows = await self.said(instance, f"tg:FriendMessage:{ANN}")
        parts = [row["parts"] for row in rows]
        for row in parts:
            for part in row:
                if str(part.get("url", "")).startswith("/app/uploads/"):
                    part["url"] = part["url"].partition("-")[2]
        text = lambda words: {"type": "text", "text": words}  # noqa: E731
        self.assertEqual(parts, [
            [text("changed")],
            [{"type": "reply", "to": str(ours["message_id"]), "text": "answer 0"}, text("to you")],
            [{"type": "forward", "messages": [{"name": "Bob", "text": "as he said"}]}],
            [{"type": "audio", "url": "voice.oga"}],
            [{"type": "file", "name": "a b.txt", "url": "a_b.txt"}, text("read")],
            [{"type": "face", "id": sticker["file_id"], "name": "😀"}],
            [{"type": "other", "kind": "location", "data": {"latitude": 1.5, "longitude": 2.5}}],
            [text("see [this](https://h/)")],
            [text("hey "), {"type": "mention", "id": "1002", "name": "Bob"}],
            [text("last")],
        ])  # fmt: skip
        self.assertEqual(rows[0]["sender"], {"id": "1001", "name": "Ann Bell"})
        self.assertEqual(len(world.texts(ANN)), 10)

    async def test_groups_topics_and_channels_are_chats_of_their_own(self) -> None:
        world, known = self.world, telegram("world")
        forum = known.FORUM["id"]
        async with self.server.serve() as address:
            instance = self.callgate()
            await instance.start(address)
            # A topic that the bot opened: all that is said in it answers that message.
            root = world.message(known.BOT, forum, forum_topic_created={"name": "Plans", "icon_color": 1})
            topic = {"message_thread_id": root["message_id"], "is_topic_message": True, "reply_to_message": root}
            await world.say("not for the bot", chat=forum, **topic)
            await world.say("/help@gate_test_bot", chat=forum, **topic)
            await self.answers(forum, 1)
            await world.say("/help@other_test_bot", chat=forum, **topic)
            await world.say("@gate_test_bot hi", chat=forum, **topic)
            await self.answers(forum, 2)
            await world.say("@gate_test_bot hi all", chat=forum)
            await self.answers(forum, 3)
            # An administrator who does not show themselves, whose account is everybody's.
            anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
            await world.say("@gate_test_bot who am I?", sender=anonymous, chat=known.GROUP["id"], sender_chat=known.GROUP)
            await self.answers(known.GROUP["id"], 1)
            await world.say("news @gate_test_bot", chat=known.CHANNEL["id"])
            await self.answers(known.CHANNEL["id"], 1)
            in_topic = await self.said(instance, f"tg:GroupMessage:{forum}#{root['message_id']}")
            general = await self.said(instance, f"tg:GroupMessage:{forum}")
            group = await self.said(instance, f"tg:GroupMessage:{known.GROUP['id']}")
            channel = await self.said(instance, f"tg:GroupMessage:{known.CHANNEL['id']}")
            shown = await instance.command("session", "show", f"tg:GroupMessage:{forum}#{root['message_id']}")
        self.assertEqual(shown["settings"]["chat_name"], "Hall / Plans")
        self.assertEqual([row["parts"][0].get("text") for row in in_topic],
                         ["not for the bot", "/help", "/help@other_test_bot", None])  # fmt: skip
        self.assertEqual(len(general), 1)
        self.assertEqual(group[0]["sender"], {"id": str(known.GROUP["id"]), "name": "Town"})
        self.assertEqual(channel[0]["sender"]["name"], "News")
        topics = [sent.message.get("message_thread_id") for sent in world.sent if sent.chat == forum]
        self.assertEqual(topics, [root["message_id"], root["message_id"], None])
        self.assertIn("/new", world.texts(forum)[0])

    async def test_an_album_is_one_message_by_both_ways(self) -> None:
        known = telegram("world")
        for webhook in (False, True):
            with self.subTest(webhook=webhook):
                self.world = known.World()
                self.server = telegram("server").Server(self.world)
                async with self.server.serve() as address:
                    instance = self.callgate(f"album-{webhook}", webhook=webhook)
                    await instance.start(address)
                    for number in range(3):
                        content = {"photo": self.world.photo(PNG + bytes([number])), "media_group_id": "9"}
                        await self.world.post(known.ANN, **content, **({"caption": "us"} if number == 1 else {}))
                        await asyncio.sleep(0.1)
                    await self.answers(ANN, 1)
                    rows = await self.said(instance, f"tg:FriendMessage:{ANN}")
                    await instance.stop()
                kinds = [part["type"] for row in rows for part in row["parts"]]
                self.assertEqual((len(rows), kinds), (1, ["image", "image", "text", "image"]))

    async def test_a_group_that_becomes_a_supergroup_goes_on(self) -> None:
        world, known = self.world, telegram("world")
        old, new = known.GROUP["id"], -1001000000055
        async with self.server.serve() as address:
            instance = self.callgate()
            await instance.start(address)
            for number in range(3):
                await world.say(f"@gate_test_bot before {number}", chat=old)
                await self.answers(old, number + 1)
            await world.migrate(old, new)
            # Its messages are counted from 1 again.
            for number in range(3):
                await world.say(f"@gate_test_bot after {number}", chat=new)
                await self.answers(new, number + 1)
            # What is known of it outlives us.
            await instance.stop()
            await instance.start()
            await world.say("@gate_test_bot later", chat=new, reply_to_message=world.sent[-1].message)
            await self.answers(new, 4)
            rows = await self.said(instance, f"tg:GroupMessage:{old}")
        self.assertEqual(len(rows), 7)
        self.assertEqual(rows[-1]["parts"][0]["to"], f"{world.sent[-2].message['message_id']}@{new}")

    async def test_a_group_is_followed_when_only_a_refusal_tells(self) -> None:
        world, known = self.world, telegram("world")
        old, new = known.GROUP["id"], -1001000000055
        async with self.server.serve() as address:
            instance = self.callgate()
            await instance.start(address)
            world.chats[new] = {**world.chats[old], "id": new, "type": "supergroup"}
            world.gone[old] = new
            await world.say("@gate_test_bot hello", chat=old)
            await self.answers(new, 1)


class Leaving(Chats):
    async def answered(self, *said: str, **options) -> list:
        """What Telegram sees of what the model says."""
        async with self.server.serve() as address:
            instance = self.callgate(**options)
            instance.write(*said)
            await instance.start(address)
            for number in range(len(said)):
                await self.world.say(f"question {number}")
                before = len(self.world.sent)
                await self.world.until(lambda before=before: len(self.world.sent) > before, LONG)
            await asyncio.sleep(0.5)
            self.assertEqual(await instance.unknown(), [])
        return self.world.sent

    async def test_markdown_is_shown(self) -> None:
        sent = await self.answered("It is **very** `a<b` & [here](https://h/?a=1&b=2).\n```json\n['<hi>']\n```")
        self.assertEqual(sent[0].text, "It is very a<b & here.\n['<hi>']")
        kinds = [entity["type"] for entity in sent[0].message["entities"]]
        self.assertEqual(kinds, ["bold", "code", "text_link", "code", "pre"])
        self.assertEqual(sent[0].message["entities"][2]["url"], "https://h/?a=1&b=2")

    async def test_what_telegram_cannot_parse_is_plain(self) -> None:
        self.server.plan("sendMessage", telegram("server").Fault.UNPARSABLE)
        sent = await self.answered("It is **very** good.")
        self.assertEqual([one.text for one in sent], ["It is very good."])
        self.assertNotIn("entities", sent[0].message)

    async def test_long_answers_are_cut_as_telegram_counts(self) -> None:
        paragraphs = [f"{number} " + "😀" * 700 for number in range(8)]
        sent = await self.answered("\n\n".join(paragraphs))
        texts = [one.text for one in sent]
        self.assertEqual(len(texts), 4)
        self.assertEqual("\n\n".join(texts), "\n\n".join(paragraphs))

    async def test_an_answer_is_seen_while_it_is_written(self) -> None:
        model = telegram("model")
        for has_drafts in (True, False):
            with self.subTest(has_drafts=has_drafts):
                self.world = telegram("world").World()
                self.server = telegram("server").Server(self.world, has_drafts=has_drafts)
                async with model.slow_model() as slow, self.server.serve() as address:
                    more = model.SETTINGS.format(address=slow)
                    instance = self.callgate(f"drafts-{has_drafts}", more=more, model="slow")
                    await instance.start(address)
                    await instance.command("persona", "set", "speaker", "--mode", "tools", "--prompt", "Speak.")
                    await self.world.say("/persona speaker")
                    await self.answers(ANN, 1)
                    # Right after a message nothing is shown.
                    await asyncio.sleep(2.5)
                    self.server.asked.clear()
                    await self.world.say("tell me")
                    await self.answers(ANN, 2)
                    await asyncio.sleep(3)
                    await instance.stop()
                whole = "".join(model.WORDS).strip()
                self.assertEqual(self.world.texts(ANN)[1:], [whole])
                shown = [method for method, _ in self.world.shown]
                self.assertIn("sendChatAction", shown)
                drafts = [given for method, given in self.world.shown if method == "sendMessageDraft"]
                self.assertEqual(len({given["draft_id"] for given in drafts}), int(has_drafts))
                for given in drafts:
                    self.assertTrue(whole.startswith(given["text"].strip()), given)
                # Nothing is shown of it once it is there, and a server without drafts is asked once.
                order = [method for method, _ in self.server.asked]
                self.assertNotIn("sendMessageDraft", order[order.index("sendMessage") :])
                self.assertEqual(order.count("sendMessageDraft") > 1, has_drafts)

    async def test_files_leave_as_they_came(self) -> None:
        async with self.server.serve() as address:
            instance = self.callgate()
            await instance.start(address)
            document = {**self.world.keep("d.txt", b"words"), "file_name": "d.txt"}
            await self.world.post(telegram("world").ANN, document=document, caption="keep")
            await self.answers(ANN, 1)
            await instance.send_back("a \"b\".txt")
            await self.world.until(lambda: len(self.world.sent) == 2, LONG)
        self.assertEqual((self.world.sent[1].method, self.world.sent[1].bytes), ("sendDocument", b"words"))


class Settings(Chats):
    async def test_the_menu_shows_our_commands(self) -> None:
        async with self.server.serve() as address:
            instance = self.callgate()
            await instance.start(address)
            await self.world.until(lambda: self.world.commands, LONG)
        shown = {one["command"]: one["description"] for one in self.world.commands}
        self.assertEqual(shown["new"], "begin a new conversation")
        self.assertEqual(len(shown), 14)

    async def test_a_wrong_token_is_said_and_not_shown(self) -> None:
        async with self.server.serve() as address:
            instance = self.callgate()
            instance.token = "4242:wrong-one"
            await instance.start(address)
            listed = await instance.command("platform", "list")
            async with asyncio.timeout(LONG):
                while not listed[0]["status"]["last_error"]:
                    listed = await instance.command("platform", "list")
            self.assertEqual(listed[0]["status"]["accounts"], [])
            self.assertIn("@BotFather", listed[0]["status"]["last_error"])
            shown = str(listed) + instance.logged()
        self.assertNotIn("wrong-one", shown)

    async def test_a_bot_is_added_while_the_server_runs(self) -> None:
        async with self.server.serve() as address:
            instance = self.callgate()
            await instance.start(address)
            await self.world.until(lambda: self.world.commands, LONG)
            await instance.command("platform", "remove", "tg")
            new = ("platform", "add", "bot", "--kind", "telegram", "--token", self.world.token, "--api-url", address)
            added = await instance.command(*new)
            tested = await instance.command("platform", "test", "bot")
            self.assertEqual(tested["status"]["accounts"][0]["id"], "4242")
            await self.world.say("hello")
            await self.answers(ANN, 1)
            checks = (await instance.command("doctor"))["checks"]
            check = next(one for one in checks if one["name"] == "platform bot")
            self.assertEqual(check["status"], "ok")
        shown = str([added, tested, checks]) + instance.logged()
        self.assertNotIn(self.world.token.partition(":")[2], shown)

    async def test_another_program_that_reads_is_said(self) -> None:
        from aiohttp import ClientSession

        async with self.server.serve() as address, ClientSession() as session:
            instance = self.callgate()
            await instance.start(address)
            await self.world.until(lambda: "getUpdates" in dict(self.server.asked), LONG)
            async with session.post(f"{address}/bot{self.world.token}/getUpdates", json={"timeout": 1}) as answer:
                self.assertIn(answer.status, (200, 409))
            error = ""
            async with asyncio.timeout(LONG):
                while "another program" not in error:
                    listed = await instance.command("platform", "list")
                    error = listed[0]["status"]["last_error"] or ""
            await self.world.say("still there?")
            await self.answers(ANN, 1)

    async def test_only_telegram_posts_to_the_webhook(self) -> None:
        from aiohttp import ClientSession

        async with self.server.serve() as address, ClientSession() as session:
            instance = self.callgate(webhook=True)
            await instance.start(address)
            await self.world.until(lambda: self.server.webhook, LONG)
            hook, secret = self.server.webhook["url"], self.server.webhook["secret_token"]
            self.assertNotIn(self.world.token.partition(":")[2], secret)
            update = {"update_id": 5, "message": self.world.message(telegram("world").ANN, ANN, text="hello")}
            header = "X-Telegram-Bot-Api-Secret-Token"
            for status, headers in (
                (403, {}), (403, {header: "wrong"}), (403, {header: secret, "Origin": "http://127.0.0.1"}),
                # Told twice, it is one message.
                (200, {header: secret}), (200, {header: secret}),
            ):  # fmt: skip
                async with session.post(hook, json=update, headers=headers) as answer:
                    self.assertEqual(answer.status, status, headers)
            await self.answers(ANN, 1)
            await self.world.say("again")
            await self.answers(ANN, 2)
            await asyncio.sleep(0.5)
            self.assertEqual(len(self.world.texts(ANN)), 2)

    async def test_what_the_operator_offers_the_ai_may_do(self) -> None:
        known = telegram("world")
        async with self.server.serve() as address:
            instance = self.callgate(way='offer = ["setMessageReaction", "getChatMember"]')
            await instance.start(address)
            said = await self.world.say("@gate_test_bot like this", chat=known.GROUP["id"])
            await self.answers(known.GROUP["id"], 1)
            session = f"tg:GroupMessage:{known.GROUP['id']}"
            liked = '{"message_id": "%d", "emoji": "👍"}' % said["message_id"]
            await instance.command("call", "tg_setMessageReaction", "--args", liked, "--session", session)
            member = await instance.command("call", "tg_getChatMember", "--args", '{"user_id": "1001"}', "--session", session)
        self.assertEqual(member["value"]["status"], "member")
        self.assertEqual(self.world.done, [("setMessageReaction", {
            "message_id": said["message_id"], "chat_id": known.GROUP["id"], "reaction": [{"type": "emoji", "emoji": "👍"}],
        })])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
