"""A host for tests of the AstrBot flavour: conversations, personas, preferences and a scripted model in memory,
with turns and loops as plain as can be. The real ones are the host's; here only the frames count."""

import asyncio
import json
import re
import uuid
from pathlib import Path
from typing import Any

from environments import interpreter
from rig import Result, Rig, StepError


class Host:
    """`script` holds the model's answers in order: {"text"} or {"calls": [{"name", "args"}]}."""

    def __init__(self) -> None:
        self.script: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.sent: list[list[Any]] = []
        self.shown: list[str] = []
        """What those see who look on: pieces (thoughts with a question mark) and whole messages, in order."""
        self.pushed: list[dict[str, Any]] = []
        self.preferences: dict[tuple[str, str, str], Any] = {}
        self.conversations: dict[str, dict[str, Any]] = {}
        self.current: dict[str, str] = {}
        self.personas: dict[str, dict[str, Any]] = {}
        self.default_persona: dict[str | None, str] = {}
        self.models = [{"id": "stub", "kind": "chat", "vision": False, "default": True}]
        self.settings: dict[str, Any] = {"administrators": ["admin1"], "wake_prefix": ["/"]}
        self.chosen_models: dict[str | None, str] = {}
        self.methods_of_turn: list[str] = []
        self._by_plugin: dict[str, list[str]] = {}
        self.log: list[dict[str, Any]] = []
        self.timers: dict[str, dict[str, Any]] = {}
        self.offered: dict[str, list[str]] = {}
        self.server_tools: list[dict[str, Any]] = []
        self.rig: Rig

    def methods(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in dir(self) if name.split("_")[0] in _PREFIXES}

    # Rows

    def preference_get(self, scope: str, scope_id: str, key: str) -> dict[str, Any] | None:
        found = (scope, scope_id, key)
        return {"value": self.preferences[found]} if found in self.preferences else None

    def preference_set(self, scope: str, scope_id: str, key: str, value: Any) -> None:
        self.preferences[scope, scope_id, key] = value

    def preference_delete(self, scope: str, scope_id: str, key: str) -> None:
        self.preferences.pop((scope, scope_id, key), None)

    def preference_list(
        self, scope: str | None = None, scope_id: str | None = None, key: str | None = None
    ) -> list[dict]:
        return [
            {"scope": one[0], "scope_id": one[1], "key": one[2], "value": value}
            for one, value in self.preferences.items()
            if all(wanted in (None, is_) for wanted, is_ in zip((scope, scope_id, key), one, strict=True))
        ]

    def conversation_new(
        self,
        session: str,
        title: str | None = None,
        persona: str | None = None,
        history: str | None = None,
        platform: str | None = None,
    ) -> str:
        id = str(uuid.uuid4())
        parts = session.split(":")
        self.conversations[id] = {
            "id": id,
            "session": session,
            "platform": platform or (parts[0] if len(parts) >= 3 else "unknown"),
            "title": title,
            "persona": persona,
            "history": history or "[]",
            "created_at": 1_700_000_000 + len(self.conversations),
            "updated_at": 1_700_000_000 + len(self.conversations),
        }
        self.current[session] = id
        return id

    def conversation_get(self, session: str | None, id: str, create: bool = False) -> dict | None:
        return self.conversations.get(id)

    def conversation_list(self, session: str | None = None, platform: str | None = None) -> list[dict]:
        rows = [
            row
            for row in self.conversations.values()
            if session in (None, row["session"]) and platform in (None, row["platform"])
        ]
        return rows[::-1]

    def conversation_update(self, session: str, id: str | None = None, **changes: Any) -> None:
        self.conversations[id or self.current[session]].update(changes)

    def conversation_delete(self, session: str, id: str | None = None) -> None:
        id = id or self.current.get(session)
        if id is not None:
            self.conversations.pop(id, None)
        if self.current.get(session) == id:
            self.current.pop(session, None)

    def conversation_switch(self, session: str, id: str) -> None:
        self.current[session] = id

    def conversation_current(self, session: str) -> str | None:
        return self.current.get(session)

    def conversation_append_pair(self, id: str, user: dict, assistant: dict) -> None:
        row = self.conversations[id]
        row["history"] = json.dumps([*json.loads(row["history"]), user, assistant])

    def persona_get(self, name: str) -> dict | None:
        return self.personas.get(name)

    def persona_list(self) -> list[dict]:
        return list(self.personas.values())

    def persona_create(self, name: str, **fields: Any) -> None:
        number = len(self.personas) + 1
        self.personas[name] = {
            "name": name,
            "id": number,
            "created_at": number,
            "updated_at": number,
            **fields,
        }

    def persona_update(self, name: str, **fields: Any) -> None:
        self.personas[name].update(fields, updated_at=self.personas[name]["updated_at"] + 1)

    def persona_delete(self, name: str) -> None:
        del self.personas[name]

    def persona_default(self, session: str | None = None) -> str | None:
        return self.default_persona.get(session, self.default_persona.get(None))

    def model_list(self) -> list[dict]:
        return self.models

    def settings_get(self, session: str | None = None) -> dict:
        return {**self.settings, "model": self.chosen_models.get(session, "stub")}

    def session_model_set(self, session: str, model: str | None) -> None:
        self.chosen_models[session] = model or "stub"

    def query(self, model: str, filters: dict, order: list, offset: int, limit: int, verb: str) -> list[dict]:
        rows = [row for row in self.log if row["chat_key"] == filters["chat_key"]]
        return rows[::-1][offset : offset + limit]

    async def model_embed(self, model: str, input: list[str]) -> list[list[float]]:
        """Texts are near each other by the letters they share."""
        return [
            [float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in input
        ]

    def timer_set(self, id: str, **timer: Any) -> str:
        self.timers[id] = timer
        return id

    def timer_cancel(self, id: str) -> bool:
        return self.timers.pop(id, None) is not None

    def plugin_methods(self, plugin: str, methods: list[dict]) -> bool:
        self.offer(plugin, methods)
        self.offered[plugin] = [method["name"] for method in methods]
        return True

    def offer(self, plugin: str, methods: list[dict]) -> None:
        """A turn has all methods of all plugins, as they are now."""
        self._by_plugin[plugin] = [method["name"] for method in methods]
        self.methods_of_turn = [name for names in self._by_plugin.values() for name in names]

    def method_list(self, version: int | None) -> dict[str, Any] | None:
        if version == len(self.server_tools):
            return None
        return {"version": len(self.server_tools), "methods": self.server_tools}

    def message_send(
        self, session: str, parts: list, record: bool = True, reference: str | None = None
    ) -> None:
        self.sent.append([part["text"] if part["type"] == "text" else part for part in parts])
        self.shown.append("".join(part.get("text", f"[{part['type']}]") for part in parts))

    def message_piece(self, row: int, text: str, thought: bool = False) -> None:
        self.shown.append(f"{'?' if thought else '+'}{text}")

    def system_push(self, session: str, text: str, trigger: bool = False) -> None:
        self.pushed.append({"session": session, "text": text, "trigger": trigger})

    def file_fetch(self, url: str, session: str | None = None) -> dict:
        return {"data": b"bytes of " + url.encode(), "media": "image/png", "name": "x"}

    # Models

    def _answer(self, messages: list[dict], tools: list[str]) -> dict[str, Any]:
        self.asked.append({"tools": sorted(tools), "messages": json.loads(json.dumps(messages))})
        if not self.script:
            raise RuntimeError("the script of the model is at its end")
        answer = self.script.pop(0)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        calls = [
            {"id": f"call_{place}", "name": call["name"], "arguments": call["args"]}
            for place, call in enumerate(answer.get("calls", []))
        ]
        usage = {"input": 10, "output": 5, "cached": 2}
        return {
            "text": answer.get("text"),
            "reasoning": answer.get("reasoning"),
            "tool_calls": calls,
            "usage": usage,
        }

    async def model_chat(self, model: str, request: dict) -> Any:
        self.last_request = request
        reply = self._answer(
            request["messages"], [tool["function"]["name"] for tool in request.get("tools") or []]
        )
        for piece in _pieces(reply):
            yield piece
        yield Result(reply)

    async def agent_loop(
        self,
        messages: list,
        tools: list,
        ref: str,
        max_steps: int = 30,
        tool_timeout: float = 60,
        stream: bool = False,
        last_words: str | None = None,
        **_: Any,
    ) -> Any:
        try:
            by_name = {tool["name"]: tool for tool in tools}
            ended = await self._loop(list(messages), by_name, ref, max_steps, last_words=last_words)
        except RuntimeError as error:
            text = f"The model could not answer: {error}"
            ended = {"role": "err", "text": text, "messages": messages, "ended": False}
        for piece in _pieces(ended) if stream else ():
            yield piece
        yield Result(ended)

    async def _loop(
        self,
        messages: list,
        tools: dict,
        ref: str,
        max_steps: int,
        say: Any = None,
        last_words: str | None = None,
    ) -> dict[str, Any]:
        for step in range(max_steps + 1):
            last = step == max_steps
            if last and last_words:
                messages.append({"role": "user", "content": last_words})
            reply = self._answer(messages, [] if last else list(tools))
            calls = [] if last else reply["tool_calls"]
            if not calls:
                messages.append({"role": "assistant", "content": [{"type": "text", "text": reply["text"]}]})
                return {"role": "assistant", **reply, "messages": messages, "ended": False}
            if reply["text"] and say:
                await say({"type": "text", "text": reply["text"], "final": False})
            shown = [
                {
                    "id": one["id"],
                    "type": "function",
                    "function": {"name": one["name"], "arguments": json.dumps(one["arguments"])},
                }
                for one in calls
            ]
            messages.append({"role": "assistant", "content": reply["text"], "tool_calls": shown})
            ended = False
            for call in calls:
                if call["name"] not in tools:
                    texts = [f"error: there is no tool {call['name']}. The tools are: {', '.join(tools)}"]
                else:
                    answer = await self.rig.step(
                        "tool",
                        ref=ref,
                        handle=tools[call["name"]]["handle"],
                        name=call["name"],
                        arguments=call["arguments"],
                        id=call["id"],
                    )
                    texts, ended = answer["texts"], ended or answer["ends"]
                messages += [{"role": "tool", "tool_call_id": call["id"], "content": text} for text in texts]
            if ended:
                return {"role": "assistant", "text": None, "messages": messages, "ended": True}
        raise AssertionError("unreachable")

    async def turn_run(self, ref: str, session: str, request: dict | None, hooks: list[str], **_: Any) -> Any:
        """Conversation, request hook, loop; the items are collected first, which no test minds."""
        asked = {"prompt": self.said, "system_prompt": "", "contexts": [], **(request or {})}
        id = asked.pop("conversation", None) or self.current.get(session) or self.conversation_new(session)
        apart = asked.pop("apart", False)
        row = self.conversations[id]
        if "tools" not in asked:
            asked["tools"] = self.methods_of_turn
        if not apart:
            asked["contexts"] = asked["contexts"] or json.loads(row["history"])
            asked["conversation"] = {"id": id, "title": row["title"], "persona": row["persona"]}
        if "request" in hooks:
            names = [tool if isinstance(tool, str) else tool["name"] for tool in asked["tools"]]
            changed = await self.rig.step("request", ref=ref, request={**asked, "tools": names})
            if changed and changed.get("stop"):
                return
            asked.update(changed or {})
        parts = [{"type": "text", "text": asked["prompt"]}, *asked.get("extra_user_content_parts", [])]
        kept = [part for part in parts if not part.get("_no_save")]
        user = {
            "role": "user",
            "content": [{k: v for k, v in part.items() if k != "_no_save"} for part in parts],
        }
        system = [{"role": "system", "content": asked["system_prompt"]}] if asked["system_prompt"] else []
        start = [*system, *asked["contexts"], user]
        items: asyncio.Queue = asyncio.Queue()
        tools = {tool["name"]: tool for tool in asked["tools"] if isinstance(tool, dict)}
        ended = await self._loop(start, tools, ref, 30, say=items.put)
        while not items.empty():
            yield await items.get()
        if not ended["ended"]:
            yield {"type": "text", "text": ended["text"], "final": True, "reasoning": ended.get("reasoning")}
        if apart:
            return
        saved = ended["messages"][len(system) :]
        saved[len(asked["contexts"])] = {"role": "user", "content": kept}
        row["history"] = json.dumps(saved)


def _pieces(reply: dict[str, Any]) -> list[dict[str, Any]]:
    """Thoughts, then word by word."""
    thoughts = [{"reasoning": reply["reasoning"]}] if reply.get("reasoning") else []
    return thoughts + [{"text": piece} for piece in re.findall(r"\S+\s*", reply.get("text") or "")]


_PREFIXES = {
    "preference",
    "conversation",
    "persona",
    "model",
    "settings",
    "message",
    "system",
    "file",
    "agent",
    "turn",
    "query",
    "session",
    "timer",
    "plugin",
    "method",
}


class Stage:
    """A worker with this host, and messages said to it.

    async with Stage() as stage:
        await stage.load(folder)
        sent = await stage.say("/hello", llm=[{"text": "hi"}])
    """

    def __init__(self) -> None:
        self.host = Host()
        self.rig = Rig("astrbot", self.host.methods(), python=interpreter("astrbot"))
        self.host.rig = self.rig
        self.loaded: dict[str, Any] = {}
        self._count = 0

    async def __aenter__(self) -> "Stage":
        await self.rig.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.rig.__aexit__()

    async def load(self, folder: str | Path, **options: Any) -> dict[str, Any]:
        loaded = await self.rig.load(folder, **options)
        self.loaded[loaded["id"]] = loaded
        self.host.offer(loaded["id"], loaded["methods"])
        return loaded

    def message(self, text: str, user: str = "u1", group: str | None = None, **more: Any) -> dict[str, Any]:
        """Arguments of the step `event`."""
        self._count += 1
        self.host.said = text
        role = more.pop("role", "operator" if user == "admin1" else "user")
        session = f"test:GroupMessage:{group}" if group else f"test:FriendMessage:{user}"
        message = {
            "id": f"m{self._count}",
            "session": session,
            "text": text,
            "parts": [{"type": "text", "text": text}],
            "sender": {"id": user, "name": user, "nickname": more.pop("nick", "Alice")},
            "group": {"id": group} if group else None,
            "self_id": "bot0",
            **more,
        }
        facts = {"role": role, "platform": "test", "row": self._count}
        return {"ref": f"e{self._count}", "message": message, "facts": facts}

    async def say(
        self, text: str, user: str = "u1", group: str | None = None, llm: list | None = None, **more: Any
    ) -> list[list[Any]]:
        """What the user gets to see."""
        self.host.script[:] = list(llm or [])
        self.host.sent.clear()
        self.host.shown.clear()
        self.host.asked.clear()
        self.verdict = await self.rig.step("event", **self.message(text, user, group, **more))
        return list(self.host.sent)

    async def py(self, source: str, plugin: str | None = None) -> str:
        return await self.rig.step("run", plugin=plugin or next(iter(self.loaded)), source=source)


__all__ = ["Host", "Stage", "StepError"]
