"""OneBot v11 through the real binary: every way of connecting, and what people see when we are killed or the other side
fails (e2e/onebot)."""

import asyncio
import contextlib
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from test_onebot import E2E, onebot, setUpModule  # noqa: F401

BINARY = os.environ["CALLGATE_BIN"]
LONG = 120.0
"""Seconds after which it has hung."""


class Platform(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="callgate-onebot-")))

    async def asyncSetUp(self) -> None:
        # A busy machine is no news.
        asyncio.get_running_loop().slow_callback_duration = LONG

    @contextlib.asynccontextmanager
    async def connected(self, **options):
        """The server and an account that is connected to it."""
        place = options.pop("place", "callgate")
        instance = onebot("callgate").Callgate(BINARY, self.folder / place, **options)
        async with instance, self.client(instance) as client:
            await client.connect(instance.url)
            yield instance, client

    @contextlib.asynccontextmanager
    async def client(self, instance, self_id: int = 10000):
        client = onebot("client").Client(onebot("hour").world(self_id), token=instance.token, secret=instance.token)
        try:
            yield client
        finally:
            await client.close()

    async def ask(self, client, words: str, message_id: int, **fields) -> str:
        """What is answered in private."""
        answer = client.expect(f"private {fields.get('user_id', onebot('hour').ALICE)}")
        await client.emit(onebot("reconnect").asking(words, message_id, client.world.self_id, **fields))
        return (await asyncio.wait_for(answer, LONG)).text


class Ways(Platform):
    async def test_each_way_brings_the_answer(self) -> None:
        for way in onebot("ways").Way:
            with self.subTest(way):
                token = onebot("process").TOKEN
                client = onebot("client").Client(onebot("hour").world(), token=token, secret=token)
                try:
                    url = await way.address(client)
                    async with onebot("callgate").Callgate(BINARY, self.folder / way.name, url=url) as instance:
                        await way.connect(client, instance)
                        self.assertEqual(await self.ask(client, "hello", 1), "answer 0")
                finally:
                    await client.close()

    async def test_only_who_shows_the_token_is_let_in(self) -> None:
        from aiohttp import ClientSession

        async with onebot("callgate").Callgate(BINARY, self.folder / "callgate") as instance:
            headers = {"X-Self-ID": "10000", "X-Client-Role": "Universal"}
            right = f"Bearer {instance.token}"
            async with ClientSession() as session:
                for status, given, query in (
                    (401, {}, ""), (403, {"Authorization": "Bearer wrong"}, ""), (403, {}, "?access_token=wrong"),
                    (403, {"Authorization": right, "Origin": "http://127.0.0.1"}, ""),
                    (101, {"Authorization": right}, ""), (101, {}, f"?access_token={instance.token}"),
                ):  # fmt: skip
                    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                               "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}  # fmt: skip
                    address = instance.webhook + query
                    async with session.get(address, headers={**headers, **given, **upgrade}) as response:
                        self.assertEqual(response.status, status, (given, query))
            async with self.client(instance) as client:
                event = onebot("reconnect").asking("hello", 1, 10000)
                self.assertEqual(await client.post(instance.webhook, event, signature="sha1=00"), 403)
                self.assertIn(await client.post(instance.webhook, event), (200, 204))

    async def test_a_second_connection_that_outlives_the_first_is_answered(self) -> None:
        async with onebot("callgate").Callgate(BINARY, self.folder / "callgate") as instance:
            outcome = await onebot("reconnect").reconnect(instance.url, instance.token, LONG)
        self.assertEqual(outcome.second, "accepted")
        self.assertIsNotNone(outcome.seconds)

    async def test_each_account_answers_for_itself(self) -> None:
        async with self.connected() as (instance, one), self.client(instance, 10009) as other:
            await other.connect(instance.url)
            for client, user_id in ((one, 10001), (other, 10002), (one, 10001), (other, 10002)):
                await self.ask(client, "hello", 7 + len(client.world.sent), user_id=user_id)
            self.assertEqual([sent.chat for sent in one.world.sent], ["private 10001"] * 2)
            self.assertEqual([sent.chat for sent in other.world.sent], ["private 10002"] * 2)


class Groups(Platform):
    async def test_who_speaks_to_the_bot_is_answered_and_nobody_else(self) -> None:
        hour, segments = onebot("hour"), onebot("segments")
        at, text = segments.segment("at", qq=str(hour.SELF)), segments.text("what is it?")
        reply = segments.segment("reply", id=str(hour.SAID))
        said = [
            ([text], False), ([at, text], True), ([segments.segment("at", qq=str(hour.BOB)), text], False),
            ([text, at], True), ([reply, text], True), ([segments.segment("at", qq="all"), text], False), ([at], True),
        ]  # fmt: skip
        async with self.connected() as (_, client):
            answers = 0
            for number, (message, is_answered) in enumerate(said):
                event = onebot("reconnect").asking("", 70_000 + number, hour.SELF, message=message)
                event |= {"message_type": "group", "sub_type": "normal", "group_id": hour.GROUP}
                await client.emit(event)
                answers += is_answered
                if is_answered:
                    await client.wait_until(lambda answers=answers: len(client.world.sent) >= answers, LONG)
            # What answered nobody would have taken a number.
            texts = client.world.by_chat()
            self.assertEqual(texts, {f"group {hour.GROUP}": [f"answer {number}" for number in range(answers)]})
        subprocess.run([E2E / "install", "onebot-schemas"], check=True)
        self.assertEqual(onebot("schemas").check((), client.asked).unexplained(), {})


class Delivery(Platform):
    async def test_killed_at_each_point_people_see_a_message_once_or_the_operator_hears_of_it(self) -> None:
        kill = onebot("kill")
        for point in kill.POINTS:
            for history in (True, False):
                with self.subTest(point, history=history):
                    seen = await kill.kill_at(BINARY, self.folder / f"{point}-{history}", point, history=history)
                    self.assertTrue(seen.died)
                    self.assertEqual(seen.next, 1)
                    # Where nobody can look, it is not sent again, and the operator is told.
                    is_open = point != "outbox.after_receipt" and not history
                    self.assertEqual(seen.told, ["first 0"] if is_open else [])
                    self.assertEqual(seen.first, 0 if is_open and point == "outbox.after_intent" else 1)

    async def test_what_the_other_side_leaves_open_is_looked_for_and_said_once(self) -> None:
        fault, action = onebot("client").Fault, "send_private_msg"
        for planned in (fault.CLOSE_AFTER, fault.CLOSE_BEFORE, fault.SILENT, fault.LATE):
            with self.subTest(planned):
                async with self.connected(place=planned.name) as (instance, client):
                    client.plan(action, planned, seconds=1.0)
                    await client.emit(onebot("reconnect").asking("hello", 1, 10000))
                    await client.wait_until(lambda client=client: action in dict(client.asked), LONG)
                    if planned in (fault.CLOSE_AFTER, fault.CLOSE_BEFORE):
                        await client.connect(instance.url)
                    await self.next_answer(client)
                    # The history tells, also that it has to be sent again.
                    self.assertEqual([sent.text for sent in client.world.sent], ["answer 0", "answer 1"])
                    self.assertEqual(await instance.unknown(), [])

    async def next_answer(self, client) -> None:
        await client.emit(onebot("reconnect").asking("and again", 2, 10000))
        await client.wait_until(lambda: any(sent.text == "answer 1" for sent in client.world.sent), LONG)

    async def test_a_connection_that_is_dead_and_not_closed_is_passed_by(self) -> None:
        async with self.connected() as (instance, dead), self.client(instance) as client:
            await self.ask(dead, "hello", 1)
            dead.reading.clear()
            await client.connect(instance.url)
            self.assertEqual(await self.ask(client, "and now?", 2), "answer 1")
            self.assertEqual(len(dead.world.sent), 1)

    async def test_who_reads_late_gets_everything_once(self) -> None:
        people = range(30_001, 30_021)
        async with self.connected() as (_, client):
            client.reading.clear()
            for number, user_id in enumerate(people):
                sender = {"user_id": user_id, "nickname": "P", "card": ""}
                event = onebot("reconnect").asking("hello", number, 10000, user_id=user_id, sender=sender)
                await client.emit(event)
            await asyncio.sleep(1)
            self.assertEqual(client.world.sent, [])
            client.reading.set()
            await client.wait_until(lambda: len(client.world.sent) >= len(people), LONG)
            self.assertEqual(sorted(sent.chat for sent in client.world.sent), [f"private {user_id}" for user_id in people])

    async def test_answers_keep_the_order_of_their_chat(self) -> None:
        chats, messages = 5, 10
        async with self.connected() as (_, client):

            async def talk(user_id: int) -> list[str]:
                return [await self.ask(client, "hello", user_id * 100 + n, user_id=user_id) for n in range(messages)]

            answers = await asyncio.gather(*(talk(30_001 + chat) for chat in range(chats)))
        for texts in answers:
            numbers = [int(text.split()[1]) for text in texts]
            self.assertEqual(numbers, sorted(numbers))
        self.assertEqual(len(client.world.sent), chats * messages)


if __name__ == "__main__":
    unittest.main()
