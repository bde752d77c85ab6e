"""Satori through the real binary, against the server and the element classes of satori-python (e2e/satori): what arrives,
what people see, and what is left when either side is killed or fails."""

import asyncio
import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

E2E = Path(__file__).resolve().parents[2] / "e2e"
BINARY = os.environ["CALLGATE_BIN"]
LONG = 120.0
"""Seconds after which it has hung."""
PRIVATE = "private:1001"
PICTURE = b"\x89PNG\r\n\x1a\n" + b"a picture"


def setUpModule() -> None:
    # The bench that the kill tests share is OneBot's.
    subprocess.run([E2E / "install", "satori"], check=True)
    subprocess.run([E2E / "install", "onebot"], check=True)
    for folder in (E2E / "onebot/python_modules", E2E, E2E / "satori", E2E / "satori/python_modules"):
        sys.path.insert(0, str(folder))
        # Other tests of this process have packages of their own.
        unittest.addModuleCleanup(sys.path.remove, str(folder))


def meadow(name: str):
    return importlib.import_module(f"meadow.{name}")


def element(name: str, *given, **options):
    return getattr(importlib.import_module("satori.element"), name)(*given, **options)


class Satori(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="callgate-satori-")))

    async def asyncSetUp(self) -> None:
        # A busy machine is no news.
        asyncio.get_running_loop().slow_callback_duration = LONG

    @contextlib.asynccontextmanager
    async def connected(self, *networks, place: str = "callgate", script: list[str] | None = None, **options):
        """The first network, its server, and Callgate connected to it; `script` is what its model says."""
        networks = networks or (meadow("network").Network(),)
        async with meadow("server").SatoriServer(*networks) as server:
            instance = meadow("callgate").SatoriCallgate(BINARY, self.folder / place, server, **options)
            if script:
                instance.script.write_text("".join(json.dumps({"content": words}) + "\n" for words in script))
            async with instance:
                await self.joined(server)
                yield networks[0], server, instance

    async def joined(self, server) -> None:
        async with asyncio.timeout(LONG):
            while not server.connected:
                await asyncio.sleep(0.02)

    async def log(self, instance, session: str) -> list[dict]:
        return (await instance.command("session", "show", session))["log"]


class Chats(Satori):
    async def test_who_speaks_to_the_bot_is_answered_and_nobody_else(self) -> None:
        group = meadow("network").GROUP
        async with self.connected() as (network, _, instance):
            await network.say(PRIVATE, "hello")
            own = await network.answer(PRIVATE)
            at, other = str(element("At", "9001")), str(element("At", "1002"))
            said = [
                ("what is it?", False), (f"{at} what is it?", True), (f"{other} what is it?", False),
                (f"what is it {at}", True), (f'{element("Quote", own.message_id)}what is it?', True),
                (str(element("At", type="all")), False),
            ]  # fmt: skip
            answers = 0
            for content, is_answered in said:
                await network.say(group, content)
                answers += is_answered
                if is_answered:
                    await network.answer(group, answers)
            texts = [sent.text for sent in network.in_channel(group)]
            # What answered nobody would have taken a number.
            self.assertEqual(texts, [f"answer {number}" for number in range(1, answers + 1)])
            shown = await instance.command("session", "show", f"sat:GroupMessage:{group}")
            self.assertEqual(shown["settings"]["chat_name"], "House #Garden")
            self.assertEqual(shown["log"][0]["sender"], {"id": "1001", "name": "Alice of the garden"})
            [view] = await instance.command("platform", "list")
            self.assertEqual([account["id"] for account in view["status"]["accounts"]], ["9001"])

    async def test_parts_keep_their_place(self) -> None:
        network_module = meadow("network")
        network = network_module.Network()
        network.files = {"picture.png": PICTURE, "a.txt": b"text"}
        async with self.connected(network) as (_, _, instance):
            earlier = await network.say(network_module.GROUP, "first", user=network_module.BOB)
            content = [
                element("Quote", earlier), "a &lt; b ", element("Bold", "bold"), element("Br"), element("Paragraph", "alone"),
                element("At", "1002"), element("At", type="all"), element("Emoji", "5", "smile"), element("Sharp", "7", "all"),
                element("Image", f"internal:{network.name}/9001/picture.png"),
                element("Audio", "http://files.meadow.invalid/picture.png"),
                element("File", "http://files.meadow.invalid/a.txt", "a.txt"),
                element("Image", "http://127.0.0.1:1/secret.png"),
                element("Message", forward=True)(element("Message")(element("Author", "1002", "bob"), "passed on")),
                element("Custom", "card", {"title": "A card"}), element("Link", "http://h")("there"),
            ]  # fmt: skip
            await network.say(network_module.GROUP, "".join(map(str, content)))
            await network.say(network_module.GROUP, str(element("At", "9001")))
            await network.answer(network_module.GROUP)
            parts = (await self.log(instance, f"sat:GroupMessage:{network_module.GROUP}"))[1]["parts"]
            for part in parts:
                if part.get("url", "").startswith("/app/uploads/"):
                    part["url"] = part["url"].partition("-")[2]
            forwarded = {"type": "forward", "messages": [{"name": "bob", "id": "1002", "text": "passed on"}]}
            self.assertEqual(
                parts,
                [
                    {"type": "reply", "to": earlier, "text": "first"}, {"type": "text", "text": "a < b bold\nalone\n"},
                    {"type": "mention", "id": "1002", "name": "bob"}, {"type": "mention", "id": "all", "name": "all"},
                    {"type": "face", "id": "5", "name": "smile"},
                    {"type": "other", "kind": "sharp", "data": {"id": "7", "name": "all"}},
                    {"type": "image", "url": "image.png"}, {"type": "audio", "url": "audio.png"},
                    {"type": "file", "name": "a.txt", "url": "a.txt"},
                    {"type": "image", "url": "http://127.0.0.1:1/secret.png"}, forwarded,
                    {"type": "other", "kind": "card", "data": {"title": "A card"}}, {"type": "text", "text": "there (http://h)"},
                ],
            )  # fmt: skip
            kept = {path.name.partition("-")[2]: path.read_bytes() for path in instance.data.rglob("uploads/*")}
            self.assertEqual(kept, {"image.png": PICTURE, "audio.png": PICTURE, "a.txt": b"text"})

    async def test_edits_and_recalls_change_what_was_said(self) -> None:
        async with self.connected() as (network, _, instance):
            group = meadow("network").GROUP
            edited, recalled = await network.say(group, "one"), await network.say(group, "two")
            await network.edit(group, edited, "one and a half")
            await network.recall(group, recalled)
            await network.say(group, str(element("At", "9001")))
            await network.answer(group)
            log = await self.log(instance, f"sat:GroupMessage:{group}")
            self.assertEqual(log[0]["parts"], [{"type": "text", "text": "one and a half"}])
            self.assertEqual([(row["message_id"], row["hidden"]) for row in log[:2]], [(edited, False), (recalled, True)])

    async def test_a_long_answer_is_several_messages(self) -> None:
        sentences = [f"This is sentence number {number} & <not> a tag." for number in range(5)]
        async with self.connected(more="longest_message = 60", script=[" ".join(sentences)]) as (network, _, _):
            await network.say(PRIVATE, "tell me")
            await network.answer(PRIVATE, len(sentences))
            self.assertEqual([sent.text for sent in network.sent], sentences)

    async def test_networks_are_kept_apart(self) -> None:
        network_module = meadow("network")
        one, other = network_module.Network(), network_module.Network("marsh", ("9001", "9002"))
        async with self.connected(one, other, account="") as (_, _, instance):
            await one.say(PRIVATE, "hello")
            await one.answer(PRIVATE)
            await other.say(PRIVATE, "hello", bot="9002")
            self.assertEqual((await other.answer(PRIVATE)).login, "9002")
            self.assertEqual(len(one.sent), 1)
            sessions = [session["session"] for session in await instance.command("session", "list")]
            self.assertEqual(sorted(sessions), [f"sat:FriendMessage:{name}:{PRIVATE}" for name in ("marsh", "meadow")])
            log = await self.log(instance, f"sat:FriendMessage:marsh:{PRIVATE}")
            self.assertEqual(log[0]["sender"]["id"], "marsh:1001")

    async def test_plugins_see_the_chat_and_send_parts_of_each_kind(self) -> None:
        group = meadow("network").GROUP
        async with self.connected(plugin=True) as (network, server, _):
            at = str(element("At", "9001"))
            asked = await network.say(group, f"{at} /parts")
            await network.answer(group, 2)
            # AstrBot sends sounds first, and by themselves.
            voice, first = (sent.elements for sent in network.in_channel(group))
            self.assertEqual([part.tag for part in first], ["quote", "at", "text", "br", "text", "img", "text"])
            self.assertEqual((first[0].id, first[1].id, first[4].text), (asked, "1002", "two <b> "))
            self.assertEqual(server.file(first[5].src), PICTURE)
            self.assertEqual([(part.tag, part.src) for part in voice], [("audio", "http://h/a.ogg")])
            await network.say(group, f"{at} /seen")
            seen = json.loads((await network.answer(group, 3)).text)
            expected = {"platform": "satori", "self": "9001", "raw": "message-created", "group": "House #Garden"}
            self.assertEqual(seen, expected)

    async def test_a_wrong_token_and_a_wrong_account_are_named(self) -> None:
        network = meadow("network").Network()
        async with meadow("server").SatoriServer(network) as server:
            for place, options, expected in (
                ("token", {"token": "wrong"}, "the token was refused"),
                ("account", {"account": "marsh"}, "account names none of meadow:9001"),
            ):
                with self.subTest(place):
                    made = meadow("callgate").SatoriCallgate(BINARY, self.folder / place, server, **options)
                    async with made as instance:
                        said = ""
                        async with asyncio.timeout(LONG):
                            while expected not in said:
                                [view] = await instance.command("platform", "list")
                                said = view["status"]["last_error"] or ""
                        self.assertNotIn("wrong", said)


class Delivery(Satori):
    POINTS = ("outbox.after_intent", "outbox.after_delivery", "outbox.after_receipt")

    async def test_killed_at_each_point_people_see_a_message_once_or_the_operator_hears_of_it(self) -> None:
        for point in self.POINTS:
            for history in (True, False):
                with self.subTest(point, history=history):
                    await self.kill_at(point, history)

    async def kill_at(self, point: str, history: bool) -> None:
        network = meadow("network").Network(without=set() if history else {"message.list"})
        async with meadow("server").SatoriServer(network) as server:
            instance = meadow("callgate").SatoriCallgate(BINARY, self.folder / f"{point}-{history}", server)
            instance.say("first", 10)
            try:
                await instance.start(crash_at=point)
                await self.joined(server)
                await network.say(PRIVATE, "hello")
                self.assertTrue(await instance.ended())
                instance.say("next", 10)
                await instance.start()
                await network.say(PRIVATE, "and again")
                await network.until(lambda: any(sent.text == "next 0" for sent in network.sent), LONG)
                # What is left of the first has come by then, or never does: a chat's messages keep their order.
                texts = [sent.text for sent in network.sent]
                is_open = point != "outbox.after_receipt" and not history
                self.assertEqual(await instance.unknown(), ["first 0"] if is_open else [])
                self.assertEqual(texts.count("first 0"), 0 if is_open and point == "outbox.after_intent" else 1)
                self.assertEqual(texts.count("next 0"), 1)
            finally:
                await instance.stop()

    async def test_what_the_server_leaves_open_is_looked_for_and_said_once(self) -> None:
        fault = meadow("network").Fault
        for planned in (fault.FAIL_AFTER, fault.FAIL_BEFORE, fault.BUSY):
            with self.subTest(planned):
                async with self.connected(place=planned.name) as (network, _, instance):
                    network.planned.append(planned)
                    await network.say(PRIVATE, "hello")
                    await network.answer(PRIVATE)
                    await network.say(PRIVATE, "and again")
                    await network.answer(PRIVATE, 2)
                    self.assertEqual([sent.text for sent in network.sent], ["answer 0", "answer 1"])
                    self.assertEqual(await instance.unknown(), [])

    async def test_a_refusal_is_for_the_operator_and_the_next_goes_on(self) -> None:
        async with self.connected() as (network, _, instance):
            network.planned.append(meadow("network").Fault.REFUSE)
            await network.say(PRIVATE, "hello")
            async with asyncio.timeout(LONG):
                while network.planned:
                    await asyncio.sleep(0.02)
            await network.say("private:1002", "hello", user="1002")
            await network.answer("private:1002")
            [message] = await instance.command("outbox", "list")
            self.assertIn("nobody may speak here", message["reason"])


class Resuming(Satori):
    async def test_killed_in_the_middle_of_traffic_everybody_is_answered_once(self) -> None:
        people = [f"private:{number}" for number in range(3001, 3031)]
        async with self.connected() as (network, server, instance):
            # The server tells nothing again before its second event.
            await network.tell("guild-member-added", channel=meadow("network").GROUP)
            for number, channel in enumerate(people):
                await network.say(channel, "hello", user=channel.removeprefix("private:"))
                if number in (10, 20):
                    await instance.stop()
                    await asyncio.sleep(0.2)
                elif number in (14, 24):
                    await instance.start()
                await asyncio.sleep(0.02)
            await network.until(lambda: set(network.counts()) >= set(people), LONG)
            self.assertEqual(await instance.unknown(), [])
            self.assertEqual(network.counts(), dict.fromkeys(people, 1))

    async def test_what_came_while_the_connection_was_lost_is_answered_in_order(self) -> None:
        async with self.connected() as (network, server, instance):
            await network.say(PRIVATE, "zero")
            await network.answer(PRIVATE)
            await server.drop()
            for number in range(5):
                await network.say(PRIVATE, f"missed {number}")
            await self.joined(server)
            await network.say(PRIVATE, "last")
            await network.until(lambda: self.heard(network, 2), LONG)
            async with asyncio.timeout(LONG):
                while len(said := await self.said(instance)) < 7:
                    await asyncio.sleep(0.2)
            self.assertEqual(sorted(said), sorted(["zero", *(f"missed {number}" for number in range(5)), "last"]))

    def heard(self, network, number: int) -> bool:
        return len(network.in_channel(PRIVATE)) >= number

    async def said(self, instance) -> list[str]:
        log = await self.log(instance, f"sat:FriendMessage:{PRIVATE}")
        return [row["parts"][0]["text"] for row in log if row["role"] == "user"]

    async def test_a_server_that_starts_anew_is_asked_for_what_it_has(self) -> None:
        async with self.connected() as (network, server, instance):
            for number in range(6):
                await network.say(PRIVATE, f"before {number}")
            await network.until(lambda: self.heard(network, 1), LONG)
            await server.stop()
            # It hears things before we are back, and counts from the beginning.
            await server.start()
            await network.tell("guild-member-added", channel=meadow("network").GROUP)
            await network.say("private:1002", "while nobody listened", user="1002")
            await self.joined(server)
            await network.say("private:1003", "now", user="1003")
            await network.answer("private:1003")
            await network.answer("private:1002")
            self.assertEqual(network.counts()["private:1002"], 1)


if __name__ == "__main__":
    unittest.main()
