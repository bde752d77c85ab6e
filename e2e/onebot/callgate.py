"""The real Callgate with a OneBot platform, a model that answers at once, and the witness among its plugins."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

from .process import E2E, TOKEN, answers, free_port

PLUGIN = E2E / "onebot/plugin"
_SETTINGS = """
[models]
default = "script:{script}"

[agent]
debounce_ms = 0
keep_requests = false

[[platform]]
id = "qq"
kind = "onebot"
{way}
token = "{token}"
"""


class Callgate:
    def __init__(self, binary: str, folder: Path, *, plugin: bool = False, url: str = "", said: int = 1000):
        self.binary = binary
        self.folder = folder
        self.name = "callgate"
        self.token = TOKEN
        self.data = folder / "data"
        self.port = free_port()
        self.url = f"ws://127.0.0.1:{self.port}/"
        self.webhook = f"http://127.0.0.1:{self.port}/"
        self._plugin = ["--plugin", str(PLUGIN)] if plugin else []
        self._process: asyncio.subprocess.Process | None = None
        self.data.mkdir(parents=True)
        self.script = folder / "script.jsonl"
        self.say("answer", said)
        way = f'listen = "127.0.0.1:{self.port}"\n' + (f'url = "{url}"' if url else "")
        settings = _SETTINGS.format(script=self.script, way=way, token=TOKEN)
        (self.data / "callgate.toml").write_text(settings)
        if plugin:
            self._share_environments()

    def say(self, word: str, times: int) -> None:
        """What the model says from the next start on: the word with a number, each once."""
        lines = (json.dumps({"content": f"{word} {number}"}) for number in range(times))
        self.script.write_text("\n".join(lines) + "\n")

    def _share_environments(self) -> None:
        """What plugins of a flavour need is installed once, where all tests find it."""
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        (cache / "callgate/environments").mkdir(parents=True, exist_ok=True)
        (self.data / "environments").symlink_to(cache / "callgate/environments")

    @property
    def notes(self) -> Path:
        """What the plugin has written."""
        found = list(self.data.rglob("events.jsonl"))
        return found[0] if found else self.folder / "no-notes-yet"

    @property
    def results(self) -> list[Any]:
        """What came back from what the plugin was told to do."""
        found = list(self.data.rglob("results.jsonl"))
        return [json.loads(line) for line in found[0].read_text().splitlines()] if found else []

    async def start(self, crash_at: str = "") -> None:
        ours = {name: value for name, value in os.environ.items() if not name.startswith("CALLGATE_")}
        with (self.folder / "log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                self.binary, "serve", "--json", "--data", str(self.data), "--listen", "127.0.0.1:0", *self._plugin,
                env={**ours, "CALLGATE_CRASH_AT": crash_at}, stdout=asyncio.subprocess.PIPE, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        assert self._process.stdout
        line = await asyncio.wait_for(self._process.stdout.readline(), 120)
        if b'"address"' not in line:
            raise RuntimeError(f"it did not start: {line!r}; see {self.folder / 'log'}")
        await answers(self.port)

    async def ended(self, seconds: float = 60.0) -> bool:
        """Whether it has ended by itself."""
        assert self._process
        try:
            await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def stop(self) -> None:
        if self._process and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
            await self._process.wait()

    async def command(self, *words: str) -> Any:
        made = await asyncio.create_subprocess_exec(
            self.binary, *words, "--json", "--data", str(self.data), stdout=asyncio.subprocess.PIPE
        )
        said, _ = await made.communicate()
        return json.loads(said) if said.strip() else None

    async def unknown(self) -> list[str]:
        """Messages of which nobody knows whether they were sent, as the operator sees them."""
        return [message["text"] for message in await self.command("outbox", "list") if message["state"] == "unknown"]

    async def __aenter__(self) -> "Callgate":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
