"""The real Callgate server for one suite: its own data directory, the suite's model and functions, and
what a person and an approver do over its API."""

import http.client
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

PATIENCE = 60
"""Seconds after which it has hung."""

CONFIGURATION = """
[models]
default = "obedient"

[[models.list]]
id = "obedient"
base_url = "{url}/v1"
key = "none"
retries = 0

[agent]
rounds = 200
debounce_ms = 0
history_tokens = 10000000
observation_bytes = 10000000
keep_requests = false

[approval]
wait_seconds = 0
known_values = {known}

[[mcp]]
name = "{name}"
url = "{url}/mcp"
"""

ASK = """
[[rule]]
method = "mcp:{name}/{tool}"
then = "ask"
"""


class Server:
    def __init__(self, binary: str, name: str, url: str, known: Iterable[str] = (), ask: Iterable[str] = ()) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="callgate-agentdojo-"))
        self._data = self._home / "data"
        self._data.mkdir()
        written = CONFIGURATION.format(url=url, name=name, known=json.dumps(list(known)))
        written += "".join(ASK.format(name=name, tool=tool) for tool in ask)
        (self._data / "callgate.toml").write_text(written)
        self._binary = binary
        self._log = (self._home / "log").open("wb")
        self._process = subprocess.Popen(
            [binary, "serve", "--json", "--data", self._data, "--listen", "127.0.0.1:0"],
            cwd=self._home, env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log,
        )
        try:
            line = self._process.stdout.readline()  # type: ignore[union-attr]
            if not line:
                raise RuntimeError("the server did not start")
            key = self._command("key", "new", "--scope", "operator")["key"]
        except BaseException:
            self.close()
            raise
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._address = urlsplit(json.loads(line)["address"]).netloc

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()  # type: ignore[union-attr]
        self._log.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def connected(self, name: str) -> bool:
        """Whether it has the tools of that MCP server."""
        return any(server["name"] == name and server["state"] == "connected" for server in self._command("mcp", "list"))

    def say(self, session: str, text: str) -> dict[str, Any]:
        """A person's message, in tool mode: what came of it, up to its end or the first call that waits."""
        said = {"text": text, "user": "emma", "mode": "tools"}
        return self.ask("POST", f"/api/sessions/{quote(session)}/messages", said)

    def decide(self, session: str, approval: dict[str, Any], allow: bool) -> None:
        """The answer of whoever is asked: the person in the chat, or the operator."""
        if approval["approver"] == "requester":
            self.say(session, f"/{'approve' if allow else 'deny'} {approval['id']}")
        else:
            self.ask("POST", f"/api/approvals/{approval['id']}", {"allow": allow})

    def last(self, session: str) -> str:
        """What was said last."""
        [row] = self.ask("GET", f"/api/sessions/{quote(session)}/log?limit=1")["items"]
        return "".join(part.get("text", "") for part in row["parts"])

    def waiting(self, session: str) -> list[dict[str, Any]]:
        return self.ask("GET", f"/api/approvals?session={quote(session)}")["items"]

    def ask(self, verb: str, path: str, body: Any = None) -> Any:
        # A connection each: one that is idle for long is closed.
        with closing(http.client.HTTPConnection(self._address, timeout=PATIENCE)) as connection:
            connection.request(verb, path, json.dumps(body) if body is not None else None, self._headers)
            response = connection.getresponse()
            answer = json.loads(response.read() or b"null")
        if response.status >= 400:
            raise RuntimeError(f"{verb} {path}: {response.status} {answer}")
        return answer

    def log(self) -> str:
        return (self._home / "log").read_text(errors="replace")

    def _command(self, *words: str) -> Any:
        command = [self._binary, *words, "--json", "--data", self._data]
        options = {"cwd": self._home, "env": _environment(), "timeout": PATIENCE}
        return json.loads(subprocess.run(command, capture_output=True, check=True, **options).stdout)


def _environment() -> dict[str, str]:
    """Without anything that would configure the server or bring a real model."""
    configures = ("CALLGATE", "OPENAI", "ANTHROPIC", "GEMINI", "OLLAMA")
    ours = {name: value for name, value in os.environ.items() if not name.startswith(configures)}
    return {**ours, "CALLGATE_LOG": "warn", "NO_COLOR": "1"}
