"""Synapse on loopback, with a database in a folder; ended with whoever started it."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from .person import Person

E2E = Path(__file__).resolve().parents[1]
NAME = "localhost"
PASSWORD = "let-me-in"
_SETTINGS = """
server_name: "{name}"
signing_key_path: "{folder}/signing.key"
pid_file: "{folder}/pid"
media_store_path: "{folder}/media"
listeners:
  - {{port: {port}, bind_addresses: ["127.0.0.1"], type: http, tls: false, resources: [{{names: [client, media, federation]}}]}}
database: {{name: sqlite3, args: {{database: "{folder}/homeserver.db"}}}}
enable_registration: true
enable_registration_without_verification: true
registration_shared_secret: "{secret}"
trusted_key_servers: []
suppress_key_server_warning: true
report_stats: false
rc_registration: {{per_second: 1000, burst_count: 1000}}
rc_joins: {{local: {{per_second: 1000, burst_count: 1000}}}}
rc_invites:
  per_room: {{per_second: 1000, burst_count: 1000}}
  per_user: {{per_second: 1000, burst_count: 1000}}
  per_issuer: {{per_second: 1000, burst_count: 1000}}
rc_login:
  address: {{per_second: 1000, burst_count: 1000}}
  account: {{per_second: 1000, burst_count: 1000}}
rc_message: {{per_second: {rate}, burst_count: {burst}}}
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Homeserver:
    def __init__(self, folder: Path, *, rate: float = 10_000, burst: int = 10_000):
        """`rate` and `burst` are messages of one account."""
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None
        self._accounts = 0
        folder.mkdir(parents=True)
        settings = _SETTINGS.format(
            name=NAME, folder=folder, port=self.port, secret=PASSWORD, rate=rate, burst=burst
        )
        (folder / "homeserver.yaml").write_text(settings)

    async def start(self) -> None:
        settings = str(self.folder / "homeserver.yaml")
        modules = {**os.environ, "PYTHONPATH": str(E2E / "matrix/python_modules")}
        program = [sys.executable, "-m", "synapse.app.homeserver", "-c", settings]
        # A process of no event loop, since several tests use one server.
        with (self.folder / "log").open("ab") as log:
            where: dict[str, Any] = {"cwd": self.folder, "env": modules, "stdout": log, "stderr": log}
            if not (self.folder / "signing.key").exists():
                subprocess.run([*program, "--generate-keys"], check=True, **where)
            self._process = subprocess.Popen(program, start_new_session=True, **where)
        async with asyncio.timeout(120):
            while not await self._answers():
                assert self._process.poll() is None, (self.folder / "log").read_text()
                await asyncio.sleep(0.1)

    async def _answers(self) -> bool:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(b"GET /_matrix/client/versions HTTP/1.0\r\n\r\n")
            line = await asyncio.wait_for(reader.readline(), 10)
        except (OSError, TimeoutError):
            return False
        writer.close()
        return b"200" in line

    def stop(self) -> None:
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    async def person(self, name: str) -> Person:
        """Somebody new who is called so; their account has a number too."""
        self._accounts += 1
        person = await Person.register(self.url, f"{name.lower()}{self._accounts}", PASSWORD)
        await person.client.set_displayname(name)
        return person
