"""A PostgreSQL of our own on loopback, which can be restarted as a crash would."""

import asyncio
import json
import os
import pwd
import shutil
import socket
from pathlib import Path
from typing import Any


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def programs() -> Path:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in [*installed, *map(Path, os.get_exec_path())]:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise SystemExit("make chaos needs PostgreSQL: apt-get install postgresql")


def _as_user(folder: Path) -> list[str]:
    """PostgreSQL refuses to be run by root."""
    if os.geteuid() != 0:
        return []
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


class Postgres:
    def __init__(self, folder: Path):
        self.folder = folder
        self.port = free_port()
        self.bin = programs()
        folder.mkdir(mode=0o700)
        self.user = _as_user(folder)
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        if not (self.folder / "data").exists():
            await self._init()
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(self.folder),
            "max_connections": "200",
            "shared_buffers": "16MB",
            # A restart is a crash of the server's process here and not of the machine.
            "fsync": "off",
        }
        settings = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (self.folder.parent / "postgres.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self.user, str(self.bin / "postgres"), "-D", str(self.folder / "data"),
                "-p", str(self.port), *settings, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        for _ in range(600):
            if await self.answers():
                return
            await asyncio.sleep(0.05)
        raise SystemExit("PostgreSQL did not start: see postgres.log")

    async def _init(self) -> None:
        init = await asyncio.create_subprocess_exec(
            *self.user, str(self.bin / "initdb"), "--pgdata", str(self.folder / "data"), "--username", "callgate",
            "--auth", "trust", "--no-sync", "--locale", "C", "--encoding", "UTF8",
            stdout=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        if await init.wait() != 0:
            raise SystemExit("initdb failed")

    async def stop_at_once(self) -> None:
        """As a crash: nobody is asked to finish, and the log of writes is replayed at the next start."""
        if self.process:
            self.process.send_signal(3)
            await self.process.wait()
            self.process = None

    async def answers(self) -> bool:
        return (await self._psql("postgres", "SELECT 1"))[0] == 0

    async def create(self, name: str) -> None:
        code, said = await self._psql("postgres", f"CREATE DATABASE {name}")
        if code != 0:
            raise SystemExit(f"CREATE DATABASE: {said}")

    async def cut_connections(self, name: str) -> None:
        others = f"datname = '{name}' AND pid <> pg_backend_pid()"
        await self._psql(name, f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {others}")

    async def execute(self, name: str, sql: str) -> None:
        code, said = await self._psql(name, sql)
        if code != 0:
            raise RuntimeError(said)

    async def rows(self, name: str, sql: str) -> list[dict[str, Any]]:
        code, said = await self._psql(name, f"SELECT coalesce(json_agg(found), '[]') FROM ({sql}) AS found")
        if code != 0:
            raise RuntimeError(said)
        return json.loads(said)

    async def _psql(self, name: str, sql: str) -> tuple[int, str]:
        psql = shutil.which("psql") or str(self.bin / "psql")
        process = await asyncio.create_subprocess_exec(
            psql, "-XAtq", "-h", "127.0.0.1", "-p", str(self.port), "-U", "callgate", "-d", name, "-c", sql,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        said, _ = await process.communicate()
        return process.returncode or 0, said.decode()
