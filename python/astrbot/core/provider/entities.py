"""Requests to models and their answers, as plugins read and change them."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass, field
from typing import Any

from astrbot import markers
from astrbot.core.agent.message import (
    AssistantMessageSegment,
    ContentPart,
    ToolCall,
    ToolCallMessageSegment,
    is_checkpoint_message,
)
from astrbot.core.agent.tool import ToolSet
from astrbot.core.db.po import Conversation
from astrbot.core.message.components import Plain
from astrbot.core.message.message_event_result import MessageChain
from astrbot.core.utils import media


class ProviderType(enum.Enum):
    CHAT_COMPLETION = "chat_completion"
    SPEECH_TO_TEXT = "speech_to_text"
    TEXT_TO_SPEECH = "text_to_speech"
    EMBEDDING = "embedding"
    RERANK = "rerank"


@dataclass
class ProviderMeta:
    id: str
    model: str | None
    type: str
    provider_type: ProviderType = ProviderType.CHAT_COMPLETION


@dataclass
class ProviderMetaData(ProviderMeta):
    desc: str = ""
    cls_type: Any = None
    default_config_tmpl: dict | None = None
    provider_display_name: str | None = None


@dataclass
class ToolCallsResult:
    tool_calls_info: AssistantMessageSegment
    tool_calls_result: list[ToolCallMessageSegment]

    def to_openai_messages(self) -> list[dict]:
        return [message.model_dump() for message in self.to_openai_messages_model()]

    def to_openai_messages_model(self) -> list[AssistantMessageSegment | ToolCallMessageSegment]:
        return [self.tool_calls_info, *self.tool_calls_result]


@dataclass
class ProviderRequest:
    prompt: str | None = None
    session_id: str | None = ""
    image_urls: list[str] = field(default_factory=list)
    audio_urls: list[str] = field(default_factory=list)
    extra_user_content_parts: list[ContentPart] = field(default_factory=list)
    func_tool: ToolSet | None = None
    contexts: list[dict] = field(default_factory=list)
    system_prompt: str = ""
    conversation: Conversation | None = None
    tool_calls_result: list[ToolCallsResult] | ToolCallsResult | None = None
    model: str | None = None

    def __repr__(self) -> str:
        shown = {
            "prompt": self.prompt,
            "session_id": self.session_id,
            "image_count": len(self.image_urls or []),
            "audio_count": len(self.audio_urls or []),
            "func_tool": self.func_tool,
            "contexts": self._print_friendly_context(),
            "system_prompt": self.system_prompt,
            "conversation_id": self.conversation.cid if self.conversation else "N/A",
        }
        return "ProviderRequest(" + ", ".join(f"{name}={value}" for name, value in shown.items()) + ")"

    __str__ = __repr__

    def append_tool_calls_result(self, tool_calls_result: ToolCallsResult) -> None:
        known = self.tool_calls_result or []
        self.tool_calls_result = [*(known if isinstance(known, list) else [known]), tool_calls_result]

    def _print_friendly_context(self) -> str:
        if not self.contexts:
            return (
                f"prompt: {self.prompt}, image_count: {len(self.image_urls or [])}, "
                f"audio_count: {len(self.audio_urls or [])}"
            )
        return "\n".join(
            _readable(message) for message in self.contexts if not is_checkpoint_message(message)
        )

    async def assemble_context(self) -> dict:
        """The user message of this request, in the OpenAI shape."""
        blocks: list[dict] = []
        if self.prompt and self.prompt.strip():
            blocks.append({"type": "text", "text": self.prompt})
        elif self.image_urls:
            blocks.append({"type": "text", "text": markers.OUTLINE_IMAGE})
        elif self.audio_urls:
            blocks.append({"type": "text", "text": markers.OUTLINE_AUDIO})
        blocks += [_dumped(part) for part in self.extra_user_content_parts or []]
        blocks += [
            {"type": "image_url", "image_url": {"url": await _data_url(url, "image/jpeg")}}
            for url in self.image_urls or []
        ]
        blocks += [
            {"type": "audio_url", "audio_url": {"url": await _data_url(url, "audio/wav")}}
            for url in self.audio_urls or []
        ]
        if len(blocks) == 1 and blocks[0]["type"] == "text" and not self.extra_user_content_parts:
            return {"role": "user", "content": blocks[0]["text"]}
        return {"role": "user", "content": blocks}


def _dumped(part: ContentPart | dict) -> dict:
    return part if isinstance(part, dict) else part.model_dump_for_context()


async def _data_url(source: str, mime: str) -> str:
    return source if source.startswith("data:") else f"data:{mime};base64,{await media.to_base64(source)}"


def _readable(message: dict) -> str:
    content = message.get("content", "")
    if not isinstance(content, list):
        return f"{message.get('role', 'unknown')}: {content}"
    words = [part.get("text", "") for part in content if part.get("type") == "text"]
    for kind, noun in (("image_url", "images"), ("audio_url", "audios")):
        if count := sum(part.get("type") == kind for part in content):
            words.append(f"[{'+' if words else ''}{count} {noun}]")
    return f"{message.get('role', 'unknown')}: {''.join(words)}"


@dataclass
class TokenUsage:
    input_other: int = 0
    input_cached: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output

    @property
    def input(self) -> int:
        return self.input_other + self.input_cached

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input_other + other.input_other,
            self.input_cached + other.input_cached,
            self.output + other.output,
        )

    def __sub__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input_other - other.input_other,
            self.input_cached - other.input_cached,
            self.output - other.output,
        )


class LLMResponse:
    """An answer. `completion_text` reads and writes the plain text of `result_chain` where there is one."""

    def __init__(
        self,
        role: str,
        completion_text: str | None = None,
        result_chain: MessageChain | None = None,
        tools_call_args: list[dict[str, Any]] | None = None,
        tools_call_name: list[str] | None = None,
        tools_call_ids: list[str] | None = None,
        tools_call_extra_content: dict[str, dict[str, Any]] | None = None,
        reasoning_content: str | None = None,
        reasoning_signature: str | None = None,
        raw_completion: Any = None,
        is_chunk: bool = False,
        id: str | None = None,
        usage: TokenUsage | None = None,
    ) -> None:
        self.role = role
        self._completion_text = completion_text
        self.result_chain = result_chain
        self.tools_call_args = tools_call_args or []
        self.tools_call_name = tools_call_name or []
        self.tools_call_ids = tools_call_ids or []
        self.tools_call_extra_content = tools_call_extra_content or {}
        self.reasoning_content = reasoning_content
        self.reasoning_signature = reasoning_signature
        self.raw_completion = raw_completion
        self.is_chunk = is_chunk
        self.id = id
        self.usage = usage

    def __repr__(self) -> str:
        return f"LLMResponse(role={self.role!r}, completion_text={self.completion_text!r}, tools={self.tools_call_name})"

    @property
    def completion_text(self) -> str | None:
        return self.result_chain.get_plain_text() if self.result_chain else self._completion_text

    @completion_text.setter
    def completion_text(self, value: str | None) -> None:
        if self.result_chain:
            others = [part for part in self.result_chain.chain if not isinstance(part, Plain)]
            self.result_chain.chain = [Plain(value or ""), *others]
        else:
            self._completion_text = value

    def to_openai_tool_calls(self) -> list[dict]:
        return [call.model_dump() for call in self.to_openai_tool_calls_model()]

    def to_openai_tool_calls_model(self) -> list[ToolCall]:
        return [
            ToolCall(
                id=id,
                function=ToolCall.FunctionBody(name=name, arguments=json.dumps(arguments)),
                extra_content=self.tools_call_extra_content.get(id),
            )
            for id, name, arguments in zip(
                self.tools_call_ids, self.tools_call_name, self.tools_call_args, strict=False
            )
        ]

    # Compat(astrbot): the historical spelling.
    to_openai_to_calls_model = to_openai_tool_calls_model


@dataclass
class RerankResult:
    index: int
    relevance_score: float
