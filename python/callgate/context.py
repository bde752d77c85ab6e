"""`Context`: where a call comes from, and what a plugin can do there. A parameter annotated with
it, whatever its name, is passed by the host and never shown to the AI.
"""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from callgate import link
from callgate.state import State

Part = dict[str, Any]
"""A piece of a message: `{"type": "text", "text": ...}`, an image, a file."""


@dataclass(frozen=True)
class User:
    id: str = ""
    name: str = ""
    role: str = "user"

    @property
    def is_operator(self) -> bool:
        return self.role == "operator"


@dataclass(frozen=True)
class Channel:
    id: str = ""
    name: str = ""
    type: str = ""
    adapter: str = ""


@dataclass(frozen=True)
class Message:
    """A message that somebody wrote."""

    text: str = ""
    parts: list[Part] = field(default_factory=list)
    id: str = ""
    raw: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    session: str = ""
    """The chat: `platform:type:id`."""
    user: User = User()
    channel: Channel = Channel()
    turn: str | None = None
    shared: Path = Path("/app/shared")
    """The folder that the chat's code sees as `/app/shared`."""
    uploads: Path = Path("/app/uploads")
    plugin: str = ""

    @property
    def state(self) -> State:
        """What the plugin keeps for this chat."""
        return State.of(self.plugin, chat=self.session)

    @property
    def user_state(self) -> State:
        """What the plugin keeps for this person, in whatever chat."""
        return State.of(self.plugin, user=self.user.id)

    async def send(self, *parts: str | Part) -> None:
        """Sends one message to the chat."""
        await link.call("message_send", session=self.session, parts=[_part(part) for part in parts])

    async def note(self, text: str, *, answer: bool = False) -> None:
        """Leaves a system row that the AI sees; with `answer` it is asked to react at once."""
        await link.call("system_push", session=self.session, text=text, trigger=answer)

    async def call(self, method: str, /, **arguments: Any) -> Any:
        """Calls another method, through the same gate."""
        made = await link.call("method_call", name=method, positional=[], named=arguments)
        return made["value"]

    async def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        """Tells whoever called this method how far it has come, in whatever it counts."""
        await link.call("call_progress", done=done, total=total, text=text)

    def progress_now(self, done: float, total: float | None = None, text: str = "") -> None:
        """The same for plain functions."""
        link.call_now("call_progress", done=done, total=total, text=text)

    async def ask(self, prompt: str, *, model: str | None = None, system: str = "") -> str:
        """What a model answers: the operator's default, or the one of that id. The chat sees nothing
        of it, and the caller's budget pays."""
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prompt})
        events = link.stream("model_chat", model=model or "", request={"messages": messages})
        try:
            texts = [event.get("text") or "" async for event in events]
        finally:
            await events.aclose()
        final = events.result if isinstance(events.result, dict) else {}
        return final.get("text") or "".join(texts)

    async def wake(
        self,
        name: str,
        *,
        at: datetime | None = None,
        cron: str | None = None,
        timezone: str | None = None,
        data: Any = None,
        text: str = "",
    ) -> str:
        """Has the plugin's `@on_timer` called with `name` and `data`, once or by a cron expression,
        also if Callgate was restarted meanwhile. `text` is what people see; the timer's id."""
        due = at.timestamp() if at is not None else None
        given = {"session": self.session, "text": text or name, "payload": data}
        return await link.call("timer_set", name=name, due=due, cron=cron, timezone=timezone, **given)

    async def forget(self, timer: str) -> bool:
        """Cancels a timer; false if none such waits."""
        return await link.call("timer_cancel", id=timer)

    def file(self, path: str) -> Path:
        """The file that the chat's code knows as `path`; refused where that leads elsewhere."""
        for prefix, folder in (("/app/shared", self.shared), ("/app/uploads", self.uploads)):
            if path == prefix or path.startswith(prefix + "/"):
                found = (folder / path.removeprefix(prefix).lstrip("/")).resolve()
                if found.is_relative_to(folder.resolve()):
                    return found
        raise ValueError(f"{path!r} does not lie in /app/shared or /app/uploads")

    @classmethod
    def read(cls, facts: dict[str, Any], plugin: str) -> "Context":
        """From what the host tells of a call."""
        user, channel = facts.get("user") or {}, facts.get("channel") or {}
        return cls(
            session=facts.get("session") or "",
            user=User(
                id=str(user.get("id") or ""),
                name=user.get("nickname") or user.get("name") or "",
                role=user.get("role") or "user",
            ),
            channel=Channel(
                **{key: str(channel.get(key) or "") for key in ("id", "name", "type", "adapter")}
            ),
            turn=facts.get("turn"),
            shared=Path(facts.get("shared") or cls.shared),
            uploads=Path(facts.get("uploads") or cls.uploads),
            plugin=plugin,
        )


def _part(part: str | Part) -> Part:
    return {"type": "text", "text": part} if isinstance(part, str) else part
