"""grammY from npm, unmodified, in a process of its own."""

import asyncio
import signal
from pathlib import Path

E2E = Path(__file__).resolve().parents[1]


class Grammy:
    def __init__(self, folder: Path, token: str):
        self.token = token
        self._log = folder / "grammy.log"
        self._process: asyncio.subprocess.Process | None = None
        self._address = ""

    async def start(self, address: str = "") -> None:
        self._address = address or self._address
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                "node", "peer_grammy.mjs", self._address, self.token,
                cwd=E2E / "telegram", stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    async def kill(self) -> None:
        if self._process and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
            await self._process.wait()

    async def send_back(self, name: str) -> None:
        """It does so by itself."""
