"""Providers that stand for the host's models: a call goes to `model_chat` or `model_embed` and comes back
in AstrBot's shapes. Keys and addresses of models never reach this process: plugins that read them get the
host's own address, and a key lent to this worker."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from astrbot import texts
from astrbot.core.agent.message import Message, is_checkpoint_message
from astrbot.core.agent.tool import ToolSet
from astrbot.core.exceptions import EmptyModelOutputError
from astrbot.core.message.message_event_result import MessageChain
from astrbot.core.provider.entities import LLMResponse, ProviderMeta, ProviderRequest, TokenUsage
from astrbot.core.provider.provider import EmbeddingProvider, Provider
from callgate_worker import host


class _Hosted:
    provider_config: dict

    def _of(self, row: dict) -> dict:
        gateway = row.get("gateway") or {}
        return {
            "id": row["id"],
            "type": row.get("wire") or "callgate",
            "provider_type": self._kind.value,
            "model": row.get("name") or row["id"],
            "enable": True,
            "key": [gateway["key"]] if gateway else [],
            "api_base": gateway.get("base_url", ""),
            "modalities": ["text", *(["image"] if row.get("vision") else []), "tool_use"],
        }

    def meta(self) -> ProviderMeta:
        config = self.provider_config
        return ProviderMeta(config["id"], self.get_model(), config["type"], self._kind)


class HostedProvider(_Hosted, Provider):
    def __init__(self, row: dict) -> None:
        super().__init__(self._of(row), {})
        self.set_model(self.provider_config["model"])

    def get_current_key(self) -> str:
        """Of the plugin that asks, so that what it spends is its own."""
        with suppress(host.HostError):
            return host.call_now("model_gateway")["key"]
        return next(iter(self.provider_config["key"]), "")

    def set_key(self, key: str) -> None:
        return None

    async def get_models(self) -> list[str]:
        return [self.get_model()]

    async def text_chat(
        self, prompt: str | None = None, session_id: str | None = None, **kwargs: Any
    ) -> LLMResponse:
        stream = host.stream(
            "model_chat", model=self.provider_config["id"], request=await request(prompt, **kwargs)
        )
        async for _ in stream:
            pass
        return _usable(response(stream.result))

    async def text_chat_stream(
        self, prompt: str | None = None, session_id: str | None = None, **kwargs: Any
    ) -> AsyncGenerator[LLMResponse, None]:
        stream = host.stream(
            "model_chat", model=self.provider_config["id"], request=await request(prompt, **kwargs)
        )
        try:
            async for item in stream:
                if item.get("text") or item.get("reasoning"):
                    yield LLMResponse(
                        "assistant",
                        result_chain=MessageChain().message(item.get("text") or ""),
                        reasoning_content=item.get("reasoning"),
                        is_chunk=True,
                    )
            yield response(stream.result)
        finally:
            await stream.aclose()


class HostedEmbeddingProvider(_Hosted, EmbeddingProvider):
    def __init__(self, row: dict) -> None:
        super().__init__(self._of(row), {})
        self.set_model(self.provider_config["model"])
        self._dimensions = row.get("dimensions") or 0

    async def get_embedding(self, text: str) -> list[float]:
        return (await self.get_embeddings([text]))[0]

    async def get_embeddings(self, text: list[str]) -> list[list[float]]:
        vectors = await host.call("model_embed", model=self.provider_config["id"], input=list(text))
        if vectors:
            self._dimensions = len(vectors[0])
        return vectors

    def get_dim(self) -> int:
        return self._dimensions


async def request(
    prompt: str | None = None,
    image_urls: list[str] | None = None,
    audio_urls: list[str] | None = None,
    func_tool: ToolSet | None = None,
    contexts: list | None = None,
    system_prompt: str | None = None,
    tool_calls_result: Any = None,
    model: str | None = None,
    extra_user_content_parts: list | None = None,
    tool_choice: str | None = None,
    request_max_retries: int | None = None,
    **params: Any,
) -> dict:
    """One chat request: system prompt, contexts, prompt last, then results of tools."""
    messages = [plain(message) for message in contexts or [] if not is_checkpoint_message(message)]
    if prompt is not None:
        user = ProviderRequest(
            prompt=prompt,
            image_urls=image_urls or [],
            audio_urls=audio_urls or [],
            extra_user_content_parts=extra_user_content_parts or [],
        )
        messages.append(plain(await user.assemble_context()))
    if system_prompt:
        messages.insert(0, {"role": "system", "content": system_prompt})
    for result in tool_calls_result if isinstance(tool_calls_result, list) else [tool_calls_result or ()]:
        messages += result.to_openai_messages() if result else []
    asked: dict[str, Any] = {"messages": messages, "tools": func_tool.openai_schema() if func_tool else []}
    asked |= {
        name: value
        for name, value in params.items()
        if isinstance(value, str | int | float | bool | list | dict)
    }
    if tool_choice:
        asked["tool_choice"] = tool_choice
    if model:
        asked["model"] = model
    return asked


def plain(message: Message | dict) -> dict:
    data = message.model_dump() if isinstance(message, Message) else dict(message)
    data.pop("_no_save", None)
    if isinstance(data.get("content"), list):
        data["content"] = [
            {name: value for name, value in part.items() if name != "_no_save"}
            if isinstance(part, dict)
            else part
            for part in data["content"]
        ]
    return data


def response(reply: dict) -> LLMResponse:
    """The host's reply as plugins read it."""
    calls = reply.get("tool_calls") or []
    text = reply.get("text") or None
    return LLMResponse(
        role="tool" if calls else reply.get("role") or "assistant",
        completion_text=text,
        result_chain=MessageChain().message(text) if text else None,
        tools_call_args=[_arguments(call) for call in calls],
        tools_call_name=[call["name"] for call in calls],
        tools_call_ids=[call["id"] for call in calls],
        reasoning_content=reply.get("reasoning") or reply.get("thinking"),
        raw_completion=_raw(reply),
        id=reply.get("id"),
        usage=_usage(reply.get("usage")),
    )


def _usable(reply: LLMResponse) -> LLMResponse:
    if not reply.completion_text and not reply.tools_call_name and not reply.reasoning_content:
        raise EmptyModelOutputError(texts.EMPTY_OUTPUT.format(id=reply.id or "x"))
    return reply


def _arguments(call: dict) -> dict:
    """Compat(astrbot): what is no object counts as none."""
    arguments = call.get("arguments")
    return arguments if isinstance(arguments, dict) else {}


def _usage(usage: dict | None) -> TokenUsage | None:
    if not usage:
        return None
    cached = usage.get("cached") or 0
    return TokenUsage((usage.get("input") or 0) - cached, cached, usage.get("output") or 0)


def _raw(reply: dict) -> Any:
    """Plugins read `raw_completion.choices[0].message.content` and `.usage` of OpenAI's objects."""
    usage = reply.get("usage") or {}
    message = SimpleNamespace(role="assistant", content=reply.get("text"), tool_calls=None)
    return SimpleNamespace(
        id=reply.get("id"),
        model=reply.get("model"),
        choices=[SimpleNamespace(index=0, message=message, finish_reason="stop")],
        usage=SimpleNamespace(
            prompt_tokens=usage.get("input") or 0,
            completion_tokens=usage.get("output") or 0,
            total_tokens=(usage.get("input") or 0) + (usage.get("output") or 0),
        ),
    )
