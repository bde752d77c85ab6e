"""The real Callgate as an account of a homeserver, with a model that says what a script has."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

_SETTINGS = """
[models]
default = "script:{script}"

[agent]
debounce_ms = 0
keep_requests = false
administrators = [{administrators}]

[[platform]]
id = "matrix"
kind = "matrix"
url = "{url}"
token = "{token}"
{more}
"""


class Callgate:
    def __init__(self, binary: str, folder: Path, bot: Any, *, administrators: tuple[str, ...] = (), more: str = ""):
        self.binary = binary
        self.folder = folder
        self.data = folder / "data"
        self.data.mkdir(parents=True)
        self.script = folder / "script.jsonl"
        self.say([f"answer {number}" for number in range(1000)])
        named = ", ".join(f'"matrix:{account}"' for account in administrators)
        settings = _SETTINGS.format(
            script=self.script, url=bot.client.homeserver, token=bot.token, administrators=named, more=more
        )
        (self.data / "callgate.toml").write_text(settings)
        self._process: asyncio.subprocess.Process | None = None

    def say(self, texts: list[str]) -> None:
        """What the model says from the next start on, one after the other."""
        self.script.write_text("".join(json.dumps({"content": text}) + "\n" for text in texts))

    async def start(self, crash_at: str = "") -> None:
        ours = {name: value for name, value in os.environ.items() if not name.startswith("CALLGATE_")}
        with (self.folder / "log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                self.binary, "serve", "--json", "--data", str(self.data), "--listen", "127.0.0.1:0",
                env={**ours, "CALLGATE_CRASH_AT": crash_at}, stdout=asyncio.subprocess.PIPE, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        assert self._process.stdout
        line = await asyncio.wait_for(self._process.stdout.readline(), 120)
        if b'"address"' not in line:
            raise RuntimeError(f"it did not start: {line!r}; {(self.folder / 'log').read_text()}")

    async def connected(self) -> dict[str, Any]:
        """The account as the operator sees it."""
        async with asyncio.timeout(120):
            while not (account := (await self.status())["accounts"]):
                await asyncio.sleep(0.2)
        return account[0]

    async def status(self) -> dict[str, Any]:
        (platform,) = await self.command("platform", "list")
        return platform["status"]

    async def ended(self, seconds: float = 60.0) -> bool:
        """Whether it has ended by itself."""
        assert self._process
        try:
            await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def kill(self) -> None:
        if self._process and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
            await self._process.wait()

    async def command(self, *words: str) -> Any:
        made = await asyncio.create_subprocess_exec(
            self.binary, *words, "--json", "--data", str(self.data), stdout=asyncio.subprocess.PIPE
        )
        said, _ = await made.communicate()
        # What is wrong besides stands on a line of its own.
        return json.loads(said.splitlines()[0]) if said.strip() else None

    async def log(self, session: str) -> list[dict[str, Any]]:
        """The session's messages as they are stored."""
        return (await self.command("session", "show", session, "--limit", "2000"))["log"]

    async def __aenter__(self) -> "Callgate":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()
