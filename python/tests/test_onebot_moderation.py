"""A model that mutes somebody over OneBot, through the real binary: the operator is asked, and nothing is done before the
answer."""

import asyncio
import json
import unittest

from test_onebot import onebot, setUpModule  # noqa: F401
from test_onebot_platform import BINARY, LONG, Platform


class Moderation(Platform):
    async def test_a_member_is_muted_once_the_operator_allows_it(self) -> None:
        hour = onebot("hour")
        code = f"```python\nqq_set_group_ban(user_id='{hour.BOB}', duration=60)\nsend_message('muted')\n```"
        instance = onebot("callgate").Callgate(BINARY, self.folder / "callgate")
        with (instance.data / "callgate.toml").open("a") as settings:
            settings.write('offer = ["set_group_ban"]\n')
        answers = (("allow", "muted", [(hour.GROUP, hour.BOB)]), ("deny", "deny it was", []))
        for number, (answer, last, bans) in enumerate(answers):
            lines = [{"content": code}, {"content": f"{answer} it was"}]
            instance.script.write_text("".join(json.dumps(line) + "\n" for line in lines))
            async with instance, self.client(instance) as client:
                await client.connect(instance.url)
                await self.ask_in_group(client, f"please mute {hour.BOB}", 80_000 + number)
                waiting = await self.waiting(instance)
                self.assertEqual(waiting["method"], "platform:qq/qq_set_group_ban")
                self.assertEqual(self.bans(client), [])
                await instance.command("approval", answer, str(waiting["id"]))
                texts = lambda client=client: [sent.text for sent in client.world.sent]  # noqa: E731
                await client.wait_until(lambda texts=texts, last=last: last in texts(), LONG)
                self.assertEqual([(ban["group_id"], ban["user_id"]) for ban in self.bans(client)], bans)

    async def ask_in_group(self, client, words: str, message_id: int) -> None:
        hour, segments = onebot("hour"), onebot("segments")
        message = [segments.segment("at", qq=str(hour.SELF)), segments.text(words)]
        event = onebot("reconnect").asking("", message_id, hour.SELF, message=message)
        await client.emit(event | {"message_type": "group", "sub_type": "normal", "group_id": hour.GROUP})

    async def waiting(self, instance) -> dict:
        async with asyncio.timeout(LONG):
            while not (found := await instance.command("approval", "list")):
                await asyncio.sleep(0.1)
        return found[0]

    def bans(self, client) -> list[dict]:
        return [given for action, given in client.world.done if action == "set_group_ban"]


if __name__ == "__main__":
    unittest.main()
