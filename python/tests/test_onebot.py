"""OneBot v11 against what others wrote for it: the frameworks that its bots use are given the same hour (e2e/onebot)."""

import asyncio
import importlib
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

E2E = Path(__file__).resolve().parents[2] / "e2e"


def setUpModule() -> None:
    subprocess.run([E2E / "install", "onebot"], check=True)
    for folder in (str(E2E), str(E2E / "onebot/python_modules")):
        sys.path.insert(0, folder)
        # Other tests of this process have packages of their own.
        unittest.addModuleCleanup(sys.path.remove, folder)


def onebot(name: str):
    return importlib.import_module(f"onebot.{name}")


class Hour(unittest.TestCase):
    """That it is made of what NapCat reports and takes, and leaves nothing of that out."""

    def test_events_and_actions_are_those_of_napcat(self) -> None:
        subprocess.run([E2E / "install", "onebot-schemas"], check=True)
        report = onebot("schemas").check(onebot("hour").hour(1_780_000_000), onebot("actions").ACTIONS)
        self.assertGreater(report.checked, 200)
        self.assertEqual(report.unexplained(), {})
        self.assertEqual([name for name in report.missing if name not in onebot("schemas").EXPLAINED], [])

    def test_the_world_takes_every_action(self) -> None:
        world = onebot("hour").world()
        for action, params in onebot("actions").ACTIONS:
            with self.subTest(action):
                world.answer(action, params)


class Peers(unittest.TestCase):
    """That the hour is what the frameworks understand; what they make of it differs only where it is known to."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="callgate-onebot-")))

    def test_frameworks_agree_on_the_hour(self) -> None:
        compare, entries = onebot("compare"), onebot("hour").hour(int(time.time()) - 3600)
        for message_format in ("array", "string"):
            with self.subTest(message_format):
                folder = self.folder / message_format
                folder.mkdir()
                noted = asyncio.run(compare.ask_peers(folder, entries, message_format))
                self.assertEqual(len(noted["aiocqhttp"]), len(entries))
                found = compare.differences(entries, noted["aiocqhttp"], noted["nonebot"])
                self.assertEqual(compare.unexplained(found), [])

    def test_each_way_is_one_that_a_framework_takes(self) -> None:
        """aiocqhttp calls nobody, and NoneBot takes one socket of an account."""
        way = onebot("ways").Way
        cannot = {("aiocqhttp", way.FORWARD), ("nonebot", way.APART)}
        for number in (0, 1):
            for one in way:
                folder = self.folder / f"{number}-{one.name}"
                folder.mkdir()
                name, answer = asyncio.run(self._answer(folder, one, number, cannot))
                with self.subTest(name, way=one):
                    self.assertEqual(answer, None if (name, one) in cannot else "hello")

    async def _answer(self, folder: Path, way, number: int, cannot: set) -> tuple[str, str | None]:
        token = onebot("process").TOKEN
        client = onebot("client").Client(onebot("hour").world(), token=token, secret=token)
        try:
            peer = onebot("process").peers(folder, await way.address(client))[number]
            if (peer.name, way) in cannot:
                return peer.name, None
            async with peer:
                await way.connect(client, peer)
                answer = client.expect(f"private {onebot('hour').ALICE}")
                await client.emit(onebot("reconnect").asking("echo hello", 1, client.world.self_id))
                return peer.name, (await asyncio.wait_for(answer, 60)).text
        finally:
            await client.close()

    def test_both_fail_a_second_connection_that_outlives_the_first(self) -> None:
        async def outcomes() -> dict[str, bool]:
            found = {}
            for peer in onebot("process").peers(self.folder):
                async with peer:
                    found[peer.name] = (await onebot("reconnect").reconnect(peer.url, peer.token)).works
            return found

        self.assertEqual(asyncio.run(outcomes()), {"aiocqhttp": False, "nonebot": False})


if __name__ == "__main__":
    unittest.main()
