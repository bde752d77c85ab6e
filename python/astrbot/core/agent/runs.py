"""Runs of agents that are under way. The loop itself is the host's; here are the live objects it calls
back into: the tools by handle, the hooks, and the messages that tools see as `context.messages`."""

from __future__ import annotations

import base64
import copy
import json
import os
import re
import uuid
from dataclasses import dataclass, field
from typing import Any

from astrbot import logger, markers, texts
from astrbot.core.agent.hooks import BaseAgentRunHooks
from astrbot.core.agent.message import (
    AssistantMessageSegment,
    ToolCall,
    ToolCallMessageSegment,
    bind_checkpoint_messages,
)
from astrbot.core.agent.result import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from astrbot.core.agent.run_context import ContextWrapper
from astrbot.core.agent.tool import FunctionTool, ToolSet
from astrbot.core.utils.astrbot_path import get_astrbot_temp_path

RUNS: dict[str, Run] = {}


@dataclass
class Answer:
    """What one tool call gives back: messages for the model, pictures, and whether the run ends here."""

    texts: list[str] = field(default_factory=list)
    images: list[dict[str, Any]] = field(default_factory=list)
    ends: bool = False
    error: bool = False


@dataclass
class Run:
    ref: str
    context: ContextWrapper
    hooks: BaseAgentRunHooks = field(default_factory=BaseAgentRunHooks)
    tools: dict[str, FunctionTool] = field(default_factory=dict)
    last_call: tuple[str, dict[str, Any]] | None = None
    times: int = 0

    def __post_init__(self) -> None:
        RUNS[self.ref] = self

    def close(self) -> None:
        RUNS.pop(self.ref, None)

    def offer(self, tools: ToolSet | None) -> list[dict[str, Any]]:
        """The tools as data for the host; each is callable by its handle while the run lasts."""
        offered = []
        for tool in tools or ():
            handle = getattr(tool, "host_name", None) or f"{tool.name}#{uuid.uuid4().hex[:8]}"
            self.tools[handle] = tool
            offered.append(
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                    "handle": None if getattr(tool, "host_name", None) else handle,
                }
            )
        return offered

    def see(self, messages: list[dict] | None) -> None:
        """The host's messages so far become `context.messages`, the same list object throughout."""
        if messages is not None:
            self.context.messages[:] = bind_checkpoint_messages(messages)

    def _keep(self, tool: FunctionTool, arguments: dict[str, Any], call_id: str, answer: Answer) -> None:
        """Later tools of the run see this call and its results."""
        body = ToolCall.FunctionBody(name=tool.name, arguments=json.dumps(arguments, ensure_ascii=False))
        self.context.messages.append(
            AssistantMessageSegment(tool_calls=[ToolCall(id=call_id, function=body)])
        )
        self.context.messages += [
            ToolCallMessageSegment(content=text, tool_call_id=call_id) for text in answer.texts
        ]

    async def call(self, tool: FunctionTool, arguments: dict[str, Any] | None, call_id: str = "") -> Answer:
        from astrbot.core.astr_agent_tool_exec import FunctionToolExecutor

        answer = Answer()
        given = dict(arguments or {})
        wanted = _wanted(tool, given)
        try:
            await self._hook("on_tool_start", tool, wanted)
            last: CallToolResult | None = None
            async for result in FunctionToolExecutor.execute(tool, self.context, **wanted):
                if result is None:
                    answer.ends = True
                    answer.texts.append(texts.TOOL_NO_VALUE)
                else:
                    last = result
                    _read(result, call_id, answer)
            await self._hook("on_tool_end", tool, given, last)
        except Exception as error:
            logger.warning("tool %s failed: %s", tool.name, error, exc_info=True)
            answer.error = True
            answer.texts.append(markers.TOOL_ERROR.format(error=str(error) or type(error).__name__))
        notice = self._repeated(tool.name, given)
        answer.texts = [
            text if text == texts.TOOL_NO_CONTENT else text + notice for text in answer.texts
        ]
        self._keep(tool, given, call_id, answer)
        return answer

    def _repeated(self, name: str, given: dict[str, Any]) -> str:
        """What a model is told that makes the same call over and over."""
        self.times = self.times + 1 if self.last_call == (name, given) else 1
        self.last_call = (name, copy.deepcopy(given))
        notice = texts.TOOL_REPEATED.get(min(self.times, max(texts.TOOL_REPEATED)), "")
        return notice.format(tool=name, times=self.times)

    async def _hook(self, name: str, *arguments: Any) -> None:
        try:
            await getattr(self.hooks, name)(self.context, *arguments)
        except Exception:
            logger.exception("agent hook %s failed", name)


def _wanted(tool: FunctionTool, given: dict[str, Any]) -> dict[str, Any]:
    """Compat(astrbot): only a tool with a handler is spared arguments outside its schema."""
    if not tool.handler:
        return given
    properties = (tool.parameters or {}).get("properties") or {}
    return {name: value for name, value in given.items() if name in properties}


def _read(result: CallToolResult, call_id: str, answer: Answer) -> None:
    words = []
    for place, item in enumerate(result.content):
        resource = item.resource if isinstance(item, EmbeddedResource) else item
        if isinstance(item, TextContent):
            words.append(item.text)
        elif isinstance(item, ImageContent):
            words.append(_keep(item.data, item.mimeType, call_id, place, answer))
        elif isinstance(resource, TextResourceContents):
            words.append(resource.text)
        elif isinstance(resource, BlobResourceContents) and (resource.mimeType or "").startswith("image/"):
            words.append(_keep(resource.blob, resource.mimeType, call_id, place, answer))
        else:
            words.append(texts.TOOL_UNSUPPORTED)
    answer.texts.append("\n\n".join(words) if words else texts.TOOL_NO_CONTENT)


def _keep(data: str, mime: str | None, call_id: str, place: int, answer: Answer) -> str:
    mime = mime or "image/png"
    folder = os.path.join(get_astrbot_temp_path(), "tool_images")
    os.makedirs(folder, exist_ok=True)
    safe = re.sub(r"[^\w-]", "_", call_id) or uuid.uuid4().hex
    path = os.path.join(folder, f"{safe}_{place}.{re.sub(r'[^a-z0-9]', '', mime.rpartition('/')[2])}")
    content = base64.b64decode(data)
    with open(path, "wb") as file:
        file.write(content)
    answer.images.append({"data": content, "mime": mime, "path": path})
    return texts.TOOL_IMAGE.format(path=path)
