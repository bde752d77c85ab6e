"""Programs under test, each at a port of its own, ended with whoever started them."""

import asyncio
import os
import signal
import socket
from pathlib import Path

TOKEN = "let-me-in"
E2E = Path(__file__).resolve().parents[1]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


async def answers(port: int, seconds: float = 60.0) -> None:
    """Until somebody listens there."""
    async with asyncio.timeout(seconds):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


class Peer:
    """A framework with the reverse WebSocket and the webhook that it offers."""

    def __init__(self, name: str, path: str, webhook: str, folder: Path, address: str = ""):
        self.name = name
        self.token = TOKEN
        self.port = free_port()
        self.url = f"ws://127.0.0.1:{self.port}{path}"
        self.webhook = f"http://127.0.0.1:{self.port}{webhook}"
        self.notes = folder / f"{name}.jsonl"
        # Of a program that waits to be called.
        self._address = [address] if address else []
        self._log = folder / f"{name}.log"

    async def __aenter__(self) -> "Peer":
        self.notes.touch()
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                "/usr/bin/python3", "-m", f"onebot.peer_{self.name}", str(self.port), str(self.notes),
                *self._address,
                cwd=E2E, env={**os.environ, "PYTHONPATH": str(E2E / "onebot/python_modules")}, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        await answers(self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
        await self._process.wait()


def peers(folder: Path, address: str = "") -> list[Peer]:
    return [
        Peer("aiocqhttp", "/ws/", "/", folder, address),
        Peer("nonebot", "/onebot/v11/ws", "/onebot/v11/", folder, address),
    ]
