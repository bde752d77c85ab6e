"""One `callgate serve` with a data directory of its own: started, killed, stopped and continued."""

import asyncio
import json
import os
import resource
import signal
import time
from pathlib import Path

from .postgres import free_port
from .web import Unreachable, ask

_START = 90.0


def environment(log: str = "warn") -> dict[str, str]:
    ours = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("CALLGATE_") and not name.endswith("_API_KEY")
    }
    return {**ours, "CALLGATE_LOG": log, "NO_COLOR": "1"}


class Instance:
    def __init__(self, binary: str, folder: Path, configuration: str):
        self.binary = binary
        self.folder = folder
        self.data = folder / "data"
        self.data.mkdir(parents=True)
        (self.data / "callgate.toml").write_text(configuration)
        self.port = free_port()
        self.process: asyncio.subprocess.Process | None = None
        # One fault at a time.
        self.busy = asyncio.Lock()
        self.stopped = False
        # Since when it has been able to answer; none while it is away.
        self.ready_since: float | None = None
        # It ended though nobody had ended it.
        self.died: list[str] = []

    async def make_key(self) -> str:
        made = await asyncio.create_subprocess_exec(
            self.binary, "key", "new", "--scope", "operator", "--json", "--data", str(self.data),
            stdout=asyncio.subprocess.PIPE, env=environment(),
        )  # fmt: skip
        said, _ = await made.communicate()
        return json.loads(said)["key"]

    async def start(self) -> bool:
        """False if it ended by itself, as it may while its database is away."""
        with (self.folder / "log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                self.binary, "serve", "--json", "--listen", f"127.0.0.1:{self.port}", "--data", str(self.data),
                stdout=asyncio.subprocess.PIPE, stderr=log, env=environment(), start_new_session=True,
            )  # fmt: skip
        stdout = self.process.stdout
        line = await asyncio.wait_for(stdout.readline(), _START) if stdout else b""
        # A failure is one line too.
        if b'"address"' not in line:
            await self.process.wait()
            self.process = None
            return False
        self.ready_since = time.time()
        return True

    async def start_again(self) -> None:
        """A supervisor would try again until the database is back."""
        until = time.time() + _START
        while not await self.start():
            if time.time() > until:
                raise RuntimeError(f"{self.folder.name} does not start")
            await asyncio.sleep(0.5)

    @property
    def is_up(self) -> bool:
        return self.ready_since is not None and not self.stopped

    async def kill(self) -> None:
        await self._end(signal.SIGKILL)

    async def terminate(self) -> None:
        await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> None:
        self.ready_since = None
        if self.process is None:
            return
        if self.process.returncode is None:
            self.process.send_signal(how)
        else:
            self.died.append(f"{self.folder.name} ended with {self.process.returncode} at {time.time():.0f}")
        await asyncio.wait_for(self.process.wait(), 60)
        self.process = None

    def freeze(self, frozen: bool) -> None:
        self.stopped = frozen
        if self.process and self.process.returncode is None:
            self.process.send_signal(signal.SIGSTOP if frozen else signal.SIGCONT)

    def fill_disk(self, full: bool) -> None:
        """The kernel then refuses every write beyond the first byte of a file."""
        if self.process and self.process.returncode is None:
            limit = 1 if full else resource.RLIM_INFINITY
            resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    async def settle(self, key: str) -> None:
        """Until models and methods are known."""
        until = time.time() + _START
        while time.time() < until:
            try:
                status, found = await ask(self.port, "GET", "/api/methods", key)
                if status == 200 and "guarded" in json.dumps(found):
                    return
            except Unreachable:
                pass
            await asyncio.sleep(0.1)
        raise RuntimeError(f"{self.folder.name} never found its methods")
