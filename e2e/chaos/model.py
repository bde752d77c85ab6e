"""The fake model: what it says follows from what it is asked alone, so that asked again it says the same.

It remembers each round that it was asked for, and when: a round that is asked for after the one that
follows it was on record already.
"""

import asyncio
import json
import random
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from . import words
from .web import Answer, Request, Server

# Where a run of code is executed again after a kill, a call without an outcome is refused.
_CODE = """```python
{calls}send_message({answer!r})
```"""
_CALL = """try:
    {method}(id={name!r})
except MethodError:
    pass
"""


@dataclass(frozen=True)
class Round:
    """The first message that it answers, and how much was done for it before."""

    name: str
    place: int


class Model:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.server = Server(self._answer)
        self.rounds: dict[Round, list[float]] = defaultdict(list)

    def configuration(self) -> str:
        entry = '[[models.list]]\nid = "{}"\nbase_url = "http://127.0.0.1:{}/v1"\nwire = "openai"\n'
        return "".join(entry.format(name, self.server.port) for name in ("first", "second"))

    async def _answer(self, request: Request) -> Answer:
        body = request.body or {}
        if not request.path.endswith("/chat/completions"):
            return Answer({"object": "list", "data": []})
        name, has_tools = body["model"], bool(body.get("tools"))
        open_asks, done = _read(body["messages"])
        if not open_asks:
            return Answer(_stream({"content": "There is nothing to answer."}))
        self.rounds[Round(open_asks[0].name, len(done))].append(time.time())
        slow = any(ask.kind == words.SLOW for ask in open_asks)
        await asyncio.sleep(3.0 if slow else self.random.choice((0.01, 0.05, 0.2, 0.6)))
        reply = _by_tools(name, open_asks, done) if has_tools else _by_code(name, open_asks, done)
        return Answer(_stream(reply))


def _read(messages: list[dict[str, Any]]) -> tuple[list[words.Ask], set[str]]:
    """What is not answered, and what was done about it: results of calls, and code that was written."""
    texts = [(message["role"], _text(message)) for message in messages]
    # What code was to say was said once somebody has gone on from there, unless it broke off before.
    last = max((place for place, (role, text) in enumerate(texts) if role == "user" and words.asked(text)), default=0)
    broke_off = {place - 1 for place, (_, text) in enumerate(texts) if "[The code stopped: error]" in text}
    said = [
        text
        for place, (role, text) in enumerate(texts)
        if place not in broke_off and (place < last or role != "assistant" or "```" not in text)
    ]
    answered = {name for text in said for answer in words.answers(text) for name in answer.names}
    seen: dict[str, words.Ask] = {}
    for role, text in texts:
        if role == "user":
            seen.update({ask.name: ask for ask in words.asked(text) if ask.name not in answered})
    done = {message["tool_call_id"] for message in messages if message["role"] == "tool"}
    code = [text for role, text in texts if role == "assistant" and "```" in text]
    done |= {ask.name for ask in seen.values() if any(_is_called(ask, text) for text in code)}
    return list(seen.values()), {name for name in done if name in seen}


def _is_called(ask: words.Ask, code: str) -> bool:
    """What a timer will say stands in the call that sets it, and not the name of who asked for it."""
    _, arguments = _call(ask) or ("", {})
    return repr(ask.name) in code or bool(arguments.get("text")) and repr(arguments["text"]) in code


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _by_tools(model: str, asks: list[words.Ask], done: set[str]) -> dict[str, Any]:
    """One call a round, so that there is much between them to be killed in."""
    for ask in asks:
        call = _call(ask)
        if call and ask.name not in done:
            method, arguments = call
            function = {"name": method, "arguments": json.dumps(arguments)}
            return {"tool_calls": [{"index": 0, "id": ask.name, "type": "function", "function": function}]}
    return {"content": words.answer([ask.name for ask in asks], model, "tools")}


def _call(ask: words.Ask) -> tuple[str, dict[str, Any]] | None:
    if ask.kind == words.TIMER:
        fired = words.Ask(words.name_of(ask.conversation, ask.number + words.AFTER_TIMER), words.FIRED)
        return "set_timer", {"text": fired.text, "minutes": 0.05}
    if ask.kind in (words.EFFECT, words.GUARDED):
        return ask.kind, {"id": ask.name}
    return None


def _by_code(model: str, asks: list[words.Ask], done: set[str]) -> dict[str, Any]:
    calls = ""
    for ask in asks:
        if ask.name not in done and ask.kind in (words.EFFECT, words.GUARDED):
            calls += _CALL.format(method=ask.kind, name=ask.name)
        elif ask.name not in done and ask.kind == words.TIMER:
            method, arguments = _call(ask) or ("", {})
            calls += f"{method}({arguments['text']!r}, minutes={arguments['minutes']})\n"
    answer = words.answer([ask.name for ask in asks], model, "code")
    return {"content": _CODE.format(calls=calls, answer=answer)}


def _stream(delta: dict[str, Any]) -> str:
    reason = "tool_calls" if "tool_calls" in delta else "stop"
    chunks = [
        {"choices": [{"index": 0, "delta": delta}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}},
    ]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
