"""What people see on Telegram when we are killed, or it fails: each message once, or the operator hears of it
(e2e/telegram)."""

import asyncio
import json
import subprocess
import unittest

from test_telegram import BINARY, E2E, LONG, Telegram, setUpModule, telegram  # noqa: F401

ANN = 1001


class Killed(Telegram):
    async def test_at_each_point_people_see_a_message_once_or_the_operator_hears_of_it(self) -> None:
        kill = telegram("kill")
        for point in kill.POINTS:
            with self.subTest(point):
                seen = await kill.kill_at(BINARY, self.folder / point, point)
                self.assertTrue(seen.died)
                self.assertEqual(seen.next, 1)
                # Nobody can look: it is not sent again, and the operator is told.
                is_open = point != "outbox.after_receipt"
                self.assertEqual(seen.told, ["first 0"] if is_open else [])
                self.assertEqual(seen.first, 0 if point == "outbox.after_intent" else 1)

    async def test_in_the_midst_of_what_people_say_nothing_is_lost_or_said_twice(self) -> None:
        for webhook in (False, True):
            with self.subTest(webhook=webhook):
                folder = self.folder / f"storm-{webhook}"
                storm = await telegram("kill").storm(BINARY, folder, people=30, kills=3, webhook=webhook)
                self.assertEqual(storm.kept, storm.people)
                self.assertLessEqual(max(storm.seen.values()), 1, storm)
                silent = [person for person, count in storm.seen.items() if not count]
                # One that was sent and not recorded is told as well.
                self.assertLessEqual(len(silent), storm.told, storm)


class Failing(Telegram):
    async def test_what_telegram_leaves_open_is_told_and_never_repeated(self) -> None:
        fault = telegram("server").Fault
        for planned, count in ((fault.CLOSE_BEFORE, 0), (fault.CLOSE_AFTER, 1), (fault.BROKEN, 0)):
            with self.subTest(planned):
                self.world = telegram("world").World()
                self.server = telegram("server").Server(self.world)
                async with self.server.serve() as address:
                    instance = self.callgate(planned.name)
                    await instance.start(address)
                    self.server.plan("sendMessage", planned)
                    await self.world.say("hello")
                    await self.world.until(lambda: "sendMessage" in dict(self.server.asked), LONG)
                    await self.world.say("and again")
                    await self.world.until(lambda: "answer 1" in self.world.texts(ANN), LONG)
                    self.assertEqual(self.world.texts(ANN).count("answer 0"), count)
                    self.assertEqual(await instance.unknown(), ["answer 0"])
                    # The operator may say so.
                    listed = await instance.command("outbox", "list")
                    await instance.command("outbox", "resend", str(listed[0]["id"]))
                    await self.world.until(lambda expected=count + 1: self.world.texts(ANN).count("answer 0") == expected, LONG)
                    await instance.stop()
                self.assertNotIn(self.world.token.partition(":")[2], instance.logged())

    async def test_while_telegram_is_away_answers_wait_in_their_order(self) -> None:
        async with self.server.serve() as address:
            instance = self.callgate()
            await instance.start(address)
            await self.world.say("hello")
            await self.world.until(lambda: self.world.texts(ANN), LONG)
            port = self.server.port
        script = instance.command("call", "send_message", "--session", f"tg:FriendMessage:{ANN}", "--args",
                                  json.dumps({"text": "while away 1"}))  # fmt: skip
        await script
        await instance.command("call", "send_message", "--session", f"tg:FriendMessage:{ANN}", "--args",
                               json.dumps({"text": "while away 2"}))  # fmt: skip
        await asyncio.sleep(2)
        async with self.server.serve(port):
            await self.world.until(lambda: len(self.world.texts(ANN)) >= 3, LONG)
            await self.world.say("are you there?")
            await self.world.until(lambda: len(self.world.texts(ANN)) >= 4, LONG)
        self.assertEqual(self.world.texts(ANN), ["answer 0", "while away 1", "while away 2", "answer 1"])
        self.assertEqual(await instance.unknown(), [])


class TestApi(Telegram):
    async def test_callgate_answers_on_telegram_test_api(self) -> None:
        subprocess.run([E2E / "install", "telegram-node"], check=True)
        port = telegram("callgate").free_port()
        with (self.folder / "node.log").open("ab") as log:
            node = await asyncio.create_subprocess_exec(
                "node", "test_api.mjs", str(port), self.world.token,
                cwd=E2E / "telegram", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip
        assert node.stdin and node.stdout
        try:
            ready = json.loads(await asyncio.wait_for(node.stdout.readline(), LONG))
            instance = self.callgate()
            await instance.start(ready["ready"])
            for number in range(2):
                node.stdin.write(b"hello\n")
                said = json.loads(await asyncio.wait_for(node.stdout.readline(), LONG))
                self.assertEqual(said, {"text": f"answer {number}"})
        finally:
            node.kill()
            await node.wait()


if __name__ == "__main__":
    unittest.main()
