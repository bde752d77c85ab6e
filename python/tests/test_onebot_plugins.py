"""Plugins and OneBot v11, through the real binary: the hour as they see it, and what they make the platform do
(e2e/onebot)."""

import json
import subprocess
import time
import unittest

from test_onebot import E2E, onebot, setUpModule  # noqa: F401
from test_onebot_platform import BINARY, LONG, Platform


class Events(Platform):
    async def test_plugins_see_the_hour_as_in_astrbot(self) -> None:
        entries = onebot("hour").hour(int(time.time()) - 3600)
        for message_format in ("array", "string"):
            with self.subTest(message_format):
                folder = self.folder / message_format
                folder.mkdir()
                theirs = await onebot("compare").ask_peers(folder, entries, message_format)
                ours, client = await onebot("ours").ask_ours(BINARY, folder / "callgate", entries, message_format)
                self.assertEqual(onebot("ours").wrong(entries, ours, theirs["aiocqhttp"], client), {})


class Actions(Platform):
    STYLES = ("call_action", "keyword", "api", "attribute", "platform", "name")

    async def act(self, instance, client, words: str):
        """Makes the plugin call the platform, and returns what came back."""
        before = len(instance.results)
        await client.emit(onebot("reconnect").asking(f"act {words}", 50_000 + before, client.world.self_id))
        done = f"private {onebot('hour').ALICE}", "done"
        await client.wait_until(lambda: [(sent.chat, sent.text) for sent in client.world.sent[-1:]] == [done], LONG)
        client.world.sent.clear()
        self.assertEqual(len(instance.results), before + 1)
        return instance.results[-1]

    async def test_plugins_call_every_action_in_every_way(self) -> None:
        twin = onebot("hour").world()
        async with self.connected(plugin=True) as (instance, client):
            for number, (action, params) in enumerate(onebot("actions").ACTIONS):
                how = self.STYLES[number % len(self.STYLES)]
                with self.subTest(action, how=how):
                    before = len(client.asked)
                    result = await self.act(instance, client, f"{how}:{action} {json.dumps(params)}")
                    called = [given for name, given in client.asked[before:] if name == action]
                    self.assertTrue(any(given.items() >= params.items() for given in called), called)
                    self.assertEqual(_shape(result), _shape(twin.answer(action, params)))
        subprocess.run([E2E / "install", "onebot-schemas"], check=True)
        self.assertEqual(onebot("schemas").check((), client.asked).unexplained(), {})

    async def test_a_refusal_is_the_error_that_plugins_catch(self) -> None:
        async with self.connected(plugin=True) as (instance, client):
            refused = await self.act(instance, client, 'api:set_group_ban {"group_id": 1, "user_id": 2}')
            self.assertEqual((refused["error"], refused["retcode"]), ("ActionFailed", 1400))
            refused = await self.act(instance, client, "call_action:no_such_action {}")
            self.assertEqual((refused["error"], refused["retcode"]), ("ActionFailed", 1404))

    async def test_a_group_is_shown_with_its_people(self) -> None:
        hour = onebot("hour")
        async with self.connected(plugin=True) as (instance, client):
            group = await self.act(instance, client, f'get_group {{"group_id": "{hour.GROUP}"}}')
            self.assertEqual((group["group_id"], group["group_name"]), (str(hour.GROUP), "Garden"))
            self.assertEqual(group["group_owner"], str(hour.CAROL))
            self.assertEqual(group["group_admins"], [hour.BOB, hour.SELF])
            members = {member["user_id"]: member["nickname"] for member in group["members"]}
            self.assertEqual(members[hour.CAROL], "卡罗")


def _shape(value):
    """Without what changes with the clock, and with what was said before."""
    changing = ("shut_up_timestamp", "messages", "message_id")
    if isinstance(value, dict):
        return {name: _shape(inner) for name, inner in value.items() if name not in changing}
    return [_shape(inner) for inner in value] if isinstance(value, list) else value


if __name__ == "__main__":
    unittest.main()
