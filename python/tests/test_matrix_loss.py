"""Matrix when something ends: we, the homeserver, or its patience. What people see is counted in the rooms by
matrix-nio (e2e/matrix)."""

import asyncio
import collections
import tempfile
import unittest
from pathlib import Path
from typing import Any

import test_matrix
from test_matrix import LONG, Rooms, matrix, setUpModule  # noqa: F401

POINTS = ("outbox.after_delivery", "outbox.after_receipt")


class Killed(Rooms):
    async def test_at_each_point_of_the_outbox_people_see_a_message_once(self) -> None:
        for point in POINTS:
            with self.subTest(point):
                bot = await self.person("Gate")
                instance = matrix("callgate").Callgate(
                    test_matrix.BINARY, self.folder / point, bot, administrators=(self.ann.id,)
                )
                # Longer than one message, so that it is killed between two pieces as well.
                first = "\n\n".join(f"first {number} " + "x" * 6_000 for number in range(3))
                instance.say([first])
                await instance.start(crash_at=point)
                room = await self.ann.room(bot.id, direct=True)
                await self.ann.say(room, "hello")
                self.assertTrue(await instance.ended())
                instance.say(["next"])
                await instance.start()
                try:
                    await self.ann.say(room, "and again")
                    await self.ann.wait(room, lambda history: history[-1]["content"].get("body") == "next")
                    # A room's messages keep their order: what is left of the first has come by then, or never does.
                    seen = [text[:7] for text in await self.ann.texts_by(bot.id, room)]
                    self.assertEqual(seen, ["first 0", "first 1", "first 2", "next"])
                    self.assertEqual(await instance.command("outbox", "list"), [])
                finally:
                    await instance.kill()

    async def test_again_and_again_during_an_hour_nothing_is_lost_and_nothing_doubled(self) -> None:
        carol = await self.person("Carol")
        instance = self.callgate()
        lives = 0

        def live() -> None:
            nonlocal lives
            lives += 1
            instance.say([f"life {lives} answer {number}" for number in range(500)])

        live()
        await instance.start()
        room = await self.group(self.bob, carol)
        hour = matrix("hour").Hour(room, self.bot.id, [self.ann, self.bob, carol])
        passing = asyncio.create_task(hour.pass_by(40))
        while not passing.done():
            await asyncio.wait([passing], timeout=1.5)
            await instance.kill()
            live()
            await instance.start()
        await passing
        try:
            last = await self.ann.ask(room, self.bot.id, "Gate: is that all?")
            session = f"matrix:GroupMessage:{room}"
            # What was taken back while we were away never reached us.
            most = {*hour.said, last}
            least = most - set(hour.redacted)
            rows, waiting = [], True
            async with asyncio.timeout(LONG):
                while waiting or least - {row["message_id"] for row in rows}:
                    rows = await instance.log(session)
                    asked = [row for row in rows if row["message_id"] in {*hour.asked, last}]
                    waiting = not asked or any(row["turn"] is None for row in asked)
                    await asyncio.sleep(0.3)
            # Every message is in the log once.
            counts = matrix("hour").counted(rows)
            self.assertEqual({id: count for id, count in counts.items() if count > 1}, {})
            self.assertLessEqual(set(counts), most)
            hidden = {row["message_id"] for row in rows if row["hidden"]}
            self.assertEqual(hidden, set(hour.redacted) & set(counts))
            # Every answer of the log is in the room once, and no other.
            answers = [row["parts"][0]["text"] for row in rows if row["role"] == "assistant"]
            await self.ann.hear(room, self.bot.id, len(answers))
            seen = await self.ann.texts_by(self.bot.id, room)
            self.assertEqual(collections.Counter(seen), collections.Counter(answers))
            self.assertEqual(max(collections.Counter(seen).values()), 1)
            self.assertGreater(lives, 3)
        finally:
            await instance.kill()

    async def test_what_was_said_while_it_was_away_is_all_there_in_order(self) -> None:
        instance = self.callgate()
        await instance.start()
        room = await self.group(self.bob)
        await self.ann.ask(room, self.bot.id, "Gate: tea?")
        await self.ann.hear(room, self.bot.id)
        await instance.kill()
        # More than one answer of /sync and more than one page of what it left out.
        said = [await self.bob.say(room, f"line {number}") for number in range(520)]
        await self.ann.ask(room, self.bot.id, "Gate: what did Bob say?")
        await instance.start()
        try:
            await self.ann.hear(room, self.bot.id, 2)
            rows = await instance.log(f"matrix:GroupMessage:{room}")
            found = [row for row in rows if row["sender"] and row["sender"]["id"] == self.bob.id]
            self.assertEqual([row["message_id"] for row in found], said)
        finally:
            await instance.kill()


class Homeserver(Rooms):
    async def own_home(self, **limits: Any):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="callgate-synapse-")))
        home = matrix("homeserver").Homeserver(folder / "home", **limits)
        await home.start()
        self.addCleanup(home.stop)
        return home, await self.person("Ann", home), await self.person("Gate", home)

    async def test_one_that_comes_back_is_read_from_where_we_were(self) -> None:
        home, ann, bot = await self.own_home()
        instance = self.callgate(bot, administrators=(ann.id,))
        async with instance:
            room = await ann.room(bot.id, direct=True)
            await ann.say(room, "hello")
            await ann.hear(room, bot.id)
            home.stop()
            async with asyncio.timeout(LONG):
                while (status := await instance.status())["accounts"]:
                    await asyncio.sleep(0.2)
            self.assertIn("homeserver", status["last_error"])
            await home.start()
            await ann.say(room, "are you there?")
            self.assertEqual(await ann.hear(room, bot.id, 2), ["answer 0", "answer 1"])

    async def test_its_limits_are_waited_for(self) -> None:
        home, ann, bot = await self.own_home(rate=0.7, burst=3)
        instance = self.callgate(bot, administrators=(ann.id,), more="longest_message = 50")
        words = [f"sentence {number} is about this long and no longer." for number in range(8)]
        instance.say([" ".join(words)])
        async with instance:
            room = await ann.room(bot.id, direct=True)
            await ann.say(room, "hello")
            self.assertEqual(await ann.hear(room, bot.id, len(words)), words)
            self.assertEqual(await instance.command("outbox", "list"), [])


if __name__ == "__main__":
    unittest.main()
