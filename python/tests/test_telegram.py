"""Telegram beside what others wrote for it (e2e/telegram): that our side of Telegram is one is shown by grammY, which
completes the same script on it that the real binary then does."""

import asyncio
import importlib
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = os.environ["CALLGATE_BIN"]
E2E = Path(__file__).resolve().parents[2] / "e2e"
LONG = 120.0
"""Seconds after which it has hung."""


def setUpModule() -> None:
    subprocess.run([E2E / "install", "telegram"], check=True)
    for folder in (str(E2E), str(E2E / "telegram/python_modules")):
        sys.path.insert(0, folder)
        # Other tests of this process have packages of their own.
        unittest.addModuleCleanup(sys.path.remove, folder)


def telegram(name: str):
    return importlib.import_module(f"telegram.{name}")


class Telegram(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="callgate-telegram-")))

    async def asyncSetUp(self) -> None:
        # A busy machine is no news.
        asyncio.get_running_loop().slow_callback_duration = LONG
        self.world = telegram("world").World()
        self.server = telegram("server").Server(self.world)

    def callgate(self, place: str = "callgate", **options):
        instance = telegram("callgate").Callgate(BINARY, self.folder / place, self.world.token, **options)
        self.addAsyncCleanup(instance.stop)
        return instance


class Script(Telegram):
    async def played(self, bot):
        async with self.server.serve() as address:
            try:
                return await asyncio.wait_for(telegram("script").play(self.world, self.server, bot, address), LONG)
            finally:
                await bot.kill()

    def check(self, seen) -> None:
        script = telegram("script")
        self.assertTrue(seen.asked_before and seen.fetched)
        self.assertEqual(seen.returned, script.JPEG)
        self.assertEqual((seen.private, seen.group, seen.topic), (1, 1, [script.TOPIC]))
        self.assertEqual((seen.limited, seen.resumed), (1, 4))
        self.assertGreaterEqual(seen.limit_kept, 2)

    async def test_grammy_completes_it_on_our_side_of_telegram(self) -> None:
        subprocess.run([E2E / "install", "telegram-node"], check=True)
        self.check(await self.played(telegram("peer").Grammy(self.folder, self.world.token)))

    async def test_callgate_completes_it(self) -> None:
        instance = self.callgate()
        self.check(await self.played(instance))
        self.assertNotIn(self.world.token.partition(":")[2], instance.logged())


if __name__ == "__main__":
    unittest.main()
