"""Matrix through the real binary: Synapse is the homeserver, and the people speak and read with matrix-nio
(e2e/matrix)."""

import asyncio
import importlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

E2E = Path(__file__).resolve().parents[2] / "e2e"
BINARY = os.environ["CALLGATE_BIN"]
LONG = 120.0
"""Seconds after which it has hung."""
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f64540"
    "0000000049454e44ae426082"
)
HOME: Any = None
"""The homeserver of all tests here."""


def matrix(name: str):
    return importlib.import_module(f"matrix.{name}")


def setUpModule() -> None:
    global HOME
    subprocess.run([E2E / "install", "matrix"], check=True)
    for folder in (str(E2E), str(E2E / "matrix/python_modules")):
        sys.path.insert(0, folder)
        # Other tests of this process have packages of their own.
        unittest.addModuleCleanup(sys.path.remove, folder)
    folder = tempfile.TemporaryDirectory(prefix="callgate-synapse-")
    unittest.addModuleCleanup(folder.cleanup)
    HOME = matrix("homeserver").Homeserver(Path(folder.name) / "home")
    asyncio.run(HOME.start())
    unittest.addModuleCleanup(HOME.stop)


class Rooms(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="callgate-matrix-")))

    async def asyncSetUp(self) -> None:
        # A busy machine is no news.
        asyncio.get_running_loop().slow_callback_duration = LONG
        self.ann, self.bob, self.bot = [await self.person(name) for name in ("Ann", "Bob", "Gate")]

    async def person(self, name: str, home: Any = None):
        person = await (home or HOME).person(name)
        self.addAsyncCleanup(person.client.close)
        return person

    def callgate(self, bot: Any = None, **options):
        options.setdefault("administrators", (self.ann.id,))
        return matrix("callgate").Callgate(BINARY, self.folder / "callgate", bot or self.bot, **options)

    async def group(self, *people: Any, **more: Any) -> str:
        """A room that Ann has made, with the bot in it."""
        room = await self.ann.room(self.bot.id, *(it.id for it in people), name="Garden", **more)
        for person in people:
            await person.join(room)
        await self.ann.until_joined(room, self.bot.id)
        return room

    @staticmethod
    def words(parts: list[dict[str, Any]]) -> str:
        """What a message says, with who is mentioned in it."""
        return "".join(part.get("text") or f"<{part.get('name')}>" for part in parts if part["type"] != "reply")

    async def stored(self, instance: Any, session: str, count: int, role: str = "user") -> list[dict[str, Any]]:
        """The session's rows, once there are so many."""
        async with asyncio.timeout(LONG):
            while True:
                shown = await instance.command("session", "show", session)
                rows = [row for row in (shown or {}).get("log", []) if row["role"] == role]
                if len(rows) >= count:
                    return rows
                await asyncio.sleep(0.2)


class Chats(Rooms):
    async def test_what_was_said_before_the_bot_came_in_is_answered(self) -> None:
        room = await self.ann.room(self.bot.id, direct=True)
        await self.ann.say(room, "hello")
        async with self.callgate() as instance:
            self.assertEqual(await self.ann.hear(room, self.bot.id), ["answer 0"])
            await self.ann.say(room, "and now?")
            self.assertEqual(await self.ann.hear(room, self.bot.id, 2), ["answer 0", "answer 1"])
            rows = await self.stored(instance, f"matrix:FriendMessage:{room}", 2)
            self.assertEqual([self.words(row["parts"]) for row in rows], ["hello", "and now?"])
            self.assertEqual(rows[0]["sender"], {"id": self.ann.id, "name": "Ann"})
            account = await instance.connected()
            self.assertEqual((account["id"], account["name"]), (self.bot.id, "Gate"))
            self.assertRegex(account["program"], r"^Synapse [\d.]+$")
            # A third person makes it a group.
            await self.ann.client.room_invite(room, self.bob.id)
            await self.bob.join(room)
            await self.bob.say(room, "psst")
            await self.bob.ask(room, self.bot.id, "Gate?")
            self.assertEqual(await self.ann.hear(room, self.bot.id, 3), ["answer 0", "answer 1", "answer 2"])
            rows = await self.stored(instance, f"matrix:GroupMessage:{room}", 2)
            self.assertEqual([row["mentioned"] for row in rows], [False, True])

    async def test_who_speaks_to_the_bot_is_answered_and_nobody_else(self) -> None:
        async with self.callgate() as instance:
            room = await self.group(self.bob)
            bot, answers = self.bot.id, 0
            link = f'<a href="https://matrix.to/#/{bot}">Gate</a>: tea?'
            html = {"format": "org.matrix.custom.html", "formatted_body": link}
            bobs = await self.bob.say(room, "I like tea.")

            def reply(to: str) -> dict[str, Any]:
                return {"m.relates_to": {"m.in_reply_to": {"event_id": to}}, "m.mentions": {}}

            said: list[tuple[str, dict[str, Any], bool]] = [
                ("tea?", {}, False), ("Gate, tea?", {"m.mentions": {"user_ids": [bot]}}, True),
                ("Gate: tea?", html, True), ("Gate: tea?", {}, True), ("Gate: tea?", {"m.mentions": {}}, False),
                ("Bob, tea?", {"m.mentions": {"user_ids": [self.bob.id]}}, False),
                ("@room tea?", {"m.mentions": {"room": True}}, False),
                ("> <@bob> I like tea.\n\nso do I", reply(bobs), False),
                ("tea of a machine, Gate", {"msgtype": "m.notice", "m.mentions": {"user_ids": [bot]}}, False),
                ("waves at Gate", {"msgtype": "m.emote", "m.mentions": {"user_ids": [bot]}}, True),
            ]  # fmt: skip
            for body, content, is_answered in said:
                await self.ann.say(room, body, **content)
                answers += is_answered
                if is_answered:
                    await self.ann.hear(room, bot, answers)
            mine = (await self.ann.said_by(bot, room))[-1]
            await self.ann.say(room, "why?", **reply(mine["event_id"]))
            # What answered nobody would have taken a number.
            expected = [f"answer {number}" for number in range(answers + 1)]
            self.assertEqual(await self.ann.hear(room, bot, answers + 1), expected)
            rows = await self.stored(instance, f"matrix:GroupMessage:{room}", len(said) + 2)
        texts = [self.words(row["parts"]) for row in rows]
        self.assertEqual(texts[1:4], ["tea?", "<Gate>, tea?", "<Gate>: tea?"])
        self.assertEqual(texts[6:9], ["<Bob>, tea?", "<room> tea?", "so do I"])
        self.assertEqual(texts[10], "* Ann waves at <Gate>")
        (replied,) = [part for part in rows[8]["parts"] if part["type"] == "reply"]
        self.assertEqual((replied["to"], replied["text"]), (bobs, "I like tea."))
        self.assertEqual(rows[11]["parts"][0]["text"], mine["content"]["body"])

    async def test_every_kind_of_message_keeps_its_parts(self) -> None:
        async with self.callgate() as instance:
            room = await self.group()
            for msgtype, name in (("m.image", "cat.png"), ("m.audio", "purr.ogg"), ("m.video", "run.mp4"), ("m.file", "猫.txt")):
                data = PNG if msgtype == "m.image" else f"the bytes of {name}".encode()
                await self.ann.upload(room, msgtype, name, "application/octet-stream", data)
            await self.ann.upload(room, "m.image", "dog.png", "image/png", PNG, filename="dog.png", body="my dog")
            await self.ann.say(room, "here", msgtype="m.location", geo_uri="geo:51.5,-0.1")
            sticker = {"body": "a wink", "url": "mxc://localhost/none", "info": {}}
            await self.ann.say(room, "", kind="m.sticker", **sticker)
            await self.ann.say(room, "strange", msgtype="org.example.strange")
            rows = await self.stored(instance, f"matrix:GroupMessage:{room}", 8)
            kinds = [[part["type"] for part in row["parts"]] for row in rows]
            self.assertEqual(
                kinds,
                [["image"], ["audio"], ["video"], ["file"], ["image", "text"], ["other"], ["image"], ["text"]],
            )
            self.assertEqual(rows[3]["parts"][0]["name"], "猫.txt")
            self.assertEqual(rows[4]["parts"][1]["text"], "my dog")
            self.assertEqual(rows[5]["parts"][0]["data"]["geo_uri"], "geo:51.5,-0.1")
            for row, data in ((rows[0], PNG), (rows[3], "the bytes of 猫.txt".encode())):
                url = row["parts"][0]["url"]
                self.assertTrue(url.startswith("/app/uploads/"), url)
                (kept,) = instance.data.rglob(Path(url).name)
                self.assertEqual(kept.read_bytes(), data)

    async def test_an_edit_counts_if_it_is_the_authors_and_a_redaction_hides(self) -> None:
        async with self.callgate() as instance:
            room = await self.group(self.bob)
            session = f"matrix:GroupMessage:{room}"
            said = [await self.ann.say(room, text) for text in ("teh one", "the other", "secret")]

            def edit(of: str, body: str) -> dict[str, Any]:
                return {"m.new_content": {"msgtype": "m.text", "body": body},
                        "m.relates_to": {"rel_type": "m.replace", "event_id": of}}  # fmt: skip

            await self.ann.say(room, "* the one", **edit(said[0], "the one"))
            await self.bob.say(room, "* forged", **edit(said[1], "forged"))
            await self.ann.client.room_redact(room, said[2])
            await self.ann.say(room, "", kind="m.reaction", **{
                "m.relates_to": {"rel_type": "m.annotation", "event_id": said[0], "key": "👍"}})  # fmt: skip
            await self.ann.say(room, "done")
            rows = await self.stored(instance, session, 3)
            async with asyncio.timeout(LONG):
                while (texts := [self.words(row["parts"]) for row in rows if not row["hidden"]])[-1] != "done":
                    rows = await self.stored(instance, session, 3)
            self.assertEqual(texts, ["the one", "the other", "done"])
            # None of it was answered, and none of it is an error.
            self.assertIsNone((await instance.status())["last_error"])
            self.assertEqual(await self.ann.said_by(self.bot.id, room), [])


class Answers(Rooms):
    async def test_markdown_is_shown_and_long_answers_are_several_messages(self) -> None:
        code = "\n".join(f"line_{number} = {number} * 2" for number in range(1500))
        paragraphs = "\n\n".join(f"第{number}段：" + "茶是一种很好的饮料。" * 40 for number in range(120)) + "\n\nThe end."
        instance = self.callgate()
        instance.say(["**Tea** is\n\n- hot\n- <b>wet</b>", "tea & <milk>", f"So:\n\n```text\n{code}\n```\n\nDone.", paragraphs])
        async with instance:
            room = await self.ann.room(self.bot.id, direct=True)
            for question, end in enumerate(("</b>", "<milk>", "Done.", "The end.")):
                await self.ann.say(room, f"question {question}")
                await self.ann.wait(room, lambda history, end=end: history[-1]["content"].get("body", "").endswith(end))
            said = [event["content"] for event in await self.ann.said_by(self.bot.id, room)]
        self.assertEqual(said[0]["formatted_body"], "<p><strong>Tea</strong> is</p>\n<ul>\n<li>hot</li>\n<li>&lt;b&gt;wet&lt;/b&gt;</li>\n</ul>")
        self.assertEqual(said[0]["body"], "**Tea** is\n\n- hot\n- <b>wet</b>")
        self.assertEqual((said[1]["body"], said[1].get("formatted_body")), ("tea & <milk>", None))
        self.assertTrue(all(event["m.mentions"] == {} for event in said))
        begins = next(place for place, event in enumerate(said) if event["body"].startswith("第0段"))
        pieces, others = said[2:begins], said[begins:]
        self.assertEqual((len(pieces), len(others)), (3, 5))
        # A block of code is one in every piece, and all of it is there.
        lines = [line for piece in pieces for line in piece["body"].splitlines() if line.startswith("line_")]
        self.assertEqual("\n".join(lines), code)
        self.assertTrue(all("<pre><code" in piece["formatted_body"] for piece in pieces[:-1]), pieces)
        whole = "".join("".join(piece["body"].split()) for piece in others)
        self.assertEqual(whole, "".join(paragraphs.split()))

    async def test_files_that_the_ai_sends_arrive_as_what_they_are(self) -> None:
        instance = self.callgate()
        code = (
            f"open('/app/shared/dot.png', 'wb').write(bytes.fromhex('{PNG.hex()}'))\n"
            "open('/app/shared/note.txt', 'w').write('茶')\n"
            "send_file('/app/shared/dot.png')\nsend_file('/app/shared/note.txt', name='Note.txt')\nsend_message('there')"
        )
        instance.say([f"```python\n{code}\n```", "answer 1"])
        async with instance:
            room = await self.ann.room(self.bot.id, direct=True)
            await self.ann.say(room, "send me files")
            await self.ann.hear(room, self.bot.id, 3)
            said = [event["content"] for event in await self.ann.said_by(self.bot.id, room)]
        self.assertEqual([it["body"] for it in said][:3], ["dot.png", "Note.txt", "there"])
        self.assertEqual(said[0]["msgtype"], "m.image")
        self.assertEqual(said[0]["info"], {"mimetype": "image/png", "size": len(PNG)})
        self.assertEqual(await self.ann.download(said[0]["url"]), PNG)
        self.assertEqual((said[1]["msgtype"], said[1]["info"]["mimetype"]), ("m.file", "text/plain"))
        self.assertEqual(await self.ann.download(said[1]["url"]), "茶".encode())

    async def test_it_is_seen_that_an_answer_is_being_written(self) -> None:
        instance = self.callgate()
        instance.say(["```python\nimport time\ntime.sleep(3)\nsend_message('done')\n```"])
        async with instance:
            room = await self.ann.room(self.bot.id, direct=True)
            await self.ann.client.sync(timeout=0)
            await self.ann.say(room, "take your time")
            seen: set[str] = set()
            async with asyncio.timeout(LONG):
                while self.bot.id not in seen:
                    await self.ann.client.sync(timeout=1000)
                    known = self.ann.client.rooms.get(room)
                    seen |= set(known.typing_users if known else ())
            self.assertEqual(await self.ann.hear(room, self.bot.id), ["done"])

    async def test_actions_that_are_offered_are_done_in_the_room_with_approval_where_they_harm(self) -> None:
        more = 'offer = ["react", "kick", "joined_members", "set_topic"]'
        instance = self.callgate(more=more)
        await instance.start()
        room = await self.group(self.bob)
        said = await self.bob.say(room, "spam")
        await self.stored(instance, f"matrix:GroupMessage:{room}", 1)
        await instance.kill()
        code = (
            f"matrix_react(event_id={said!r}, key='👎')\nnames = sorted(it['display_name'] for it in matrix_joined_members())\n"
            f"matrix_kick(user_id={self.bob.id!r}, reason='spam')\nsend_message(', '.join(names))"
        )
        instance.say([f"```python\n{code}\n```", "answer"])
        await instance.start()
        try:
            await self.ann.ask(room, self.bot.id, f"Gate: put {self.bob.id} out")
            # Who made the room has all power, and is not among those who were given some.
            given = await self.ann.client.room_put_state(
                room, "m.room.power_levels", {"users": {self.bot.id: 50}}
            )
            self.assertTrue(given.event_id)
            async with asyncio.timeout(LONG):
                while not (waiting := await instance.command("approval", "list")):
                    await asyncio.sleep(0.2)
            self.assertEqual(len(waiting), 1, waiting)
            self.assertIn(self.bob.id, await self.ann.members(room))
            await instance.command("approval", "allow", str(waiting[0]["id"]))
            texts = await self.ann.wait(
                room, lambda history: [it for it in history if it["content"].get("body") == "Ann, Bob, Gate"]
            )
            self.assertEqual(len(texts), 1)
            self.assertNotIn(self.bob.id, await self.ann.members(room))
            reactions = [it["content"]["m.relates_to"] for it in await self.ann.history(room) if it["type"] == "m.reaction"]
            self.assertEqual([(it["event_id"], it["key"]) for it in reactions], [(said, "👎")])
        finally:
            await instance.kill()


class Invitations(Rooms):
    async def test_only_those_are_followed_whom_the_operator_chose(self) -> None:
        for choice, followed in (("nobody", ()), ("administrators", ("Ann",)), ("everybody", ("Ann", "Bob"))):
            with self.subTest(choice):
                bot = await self.person("Gate")
                instance = matrix("callgate").Callgate(
                    BINARY, self.folder / choice, bot, administrators=(self.ann.id,), more=f'invites = "{choice}"'
                )
                rooms = {"Ann": await self.ann.room(bot.id, name="A")}
                async with instance:
                    await instance.connected()
                    rooms["Bob"] = await self.bob.room(bot.id, name="B")
                    for person in (self.ann, self.bob):
                        name = "Ann" if person is self.ann else "Bob"
                        if name in followed:
                            await person.until_joined(rooms[name], bot.id)
                    async with asyncio.timeout(LONG):
                        while len(followed) < 2 and not (error := (await instance.status())["last_error"]):
                            await asyncio.sleep(0.2)
                    if len(followed) < 2:
                        self.assertIn("invited the bot", error)
                    for person in (self.ann, self.bob):
                        name = "Ann" if person is self.ann else "Bob"
                        self.assertEqual(bot.id in await person.members(rooms[name]), name in followed)

    async def test_in_an_encrypted_room_it_is_said_once_that_it_cannot_be_read(self) -> None:
        encryption = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}
        instance = self.callgate()
        async with instance:
            room = await self.group(initial_state=[encryption])
            said = await self.ann.hear(room, self.bot.id)
            self.assertIn("encrypted", said[0])
            self.assertIn("encrypted", (await instance.status())["last_error"])
        async with instance:
            for number in range(3):
                await self.ann.client.room_send(
                    room, "m.room.encrypted", {"algorithm": "m.megolm.v1.aes-sha2", "sender_key": "k", "session_id": "s", "device_id": "d", "ciphertext": str(number)}
                )
            other = await self.group()
            await self.ann.ask(other, self.bot.id, "Gate: tea?")
            await self.ann.hear(other, self.bot.id)
            self.assertEqual(await self.ann.texts_by(self.bot.id, room), said)

    async def test_a_token_that_is_not_valid_is_named_and_never_shown(self) -> None:
        self.bot.token = "syt_not_a_token"
        async with self.callgate() as instance:
            tested = await instance.command("platform", "test", "matrix")
            error = json.dumps(tested)
            self.assertIn("access token", error)
            self.assertIn("M_UNKNOWN_TOKEN", error)
        log = (instance.folder / "log").read_text()
        self.assertNotIn("syt_not_a_token", log + error)


if __name__ == "__main__":
    unittest.main()
