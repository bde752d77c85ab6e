"""The real Callgate with a Telegram platform and a model that answers at once."""

import asyncio
import json
import os
from pathlib import Path

from onebot.callgate import Callgate as OfOneBot
from onebot.process import free_port

_SETTINGS = """
[models]
default = "{model}"

[agent]
debounce_ms = 0
keep_requests = false
{more}
[[platform]]
id = "tg"
kind = "telegram"
token = "{token}"
api_url = "{api_url}"
{way}
"""


class Callgate(OfOneBot):
    """How it is started, ended and asked is the same for all platforms."""

    def __init__(self, binary: str, folder: Path, token: str, *, webhook: bool = False, more: str = "", way: str = "",
                 model: str = ""):  # fmt: skip
        self.binary = binary
        self.folder = folder
        self.token = token
        self.data = folder / "data"
        self.data.mkdir(parents=True)
        self.script = folder / "script.jsonl"
        self.port = free_port()
        self._process = None
        self._more = more
        self._model = model or f"script:{self.script}"
        self._plugin: list[str] = []
        self._way = way
        if webhook:
            address = f"127.0.0.1:{self.port}"
            self._way += f'\nlisten = "{address}"\nurl = "http://{address}/hook"'
        self.say("answer", 1000)

    def with_plugin(self, folder: Path) -> "Callgate":
        self._plugin = ["--plugin", str(folder)]
        self._share_environments()
        return self

    def write(self, *answers: str) -> None:
        """What the model says from the next start on."""
        self.script.write_text("".join(json.dumps({"content": words}) + "\n" for words in answers))

    async def start(self, api_url: str = "", crash_at: str = "") -> None:
        if api_url:
            settings = _SETTINGS.format(
                model=self._model, token=self.token, api_url=api_url, way=self._way, more=self._more
            )
            (self.data / "callgate.toml").write_text(settings)
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

    async def kill(self) -> None:
        await self.stop()

    async def send_back(self, name: str) -> None:
        """The file that came last, as a file: what an AI would do with `send_file`."""
        newest = max(self.data.rglob("uploads/*"), key=lambda path: path.stat().st_mtime)
        path = {"path": f"/app/uploads/{newest.name}", "name": name}
        await self.command("call", "send_file", "--session", "tg:FriendMessage:1001", "--args", json.dumps(path))

    def logged(self) -> str:
        return (self.folder / "log").read_text(errors="replace")
