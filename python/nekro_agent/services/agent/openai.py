"""Model calls of plugins. A model of the host is asked through the host, with its budget and its
journal; an address that a plugin brings itself is called directly."""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from callgate_worker import host
from pydantic import BaseModel

from nekro_agent.core.config import config
from nekro_agent.services.agent import direct
from nekro_agent.services.agent.creator import OpenAIChatMessage


class OpenAIResponse(BaseModel):
    response_content: str
    thought_chain: str = ""
    messages: list[dict[str, Any]] = []
    message_cnt: int = 0
    token_consumption: int = 0
    token_input: int = 0
    token_output: int = 0
    use_model: str = ""
    speed_tokens_per_second: float = 0.0
    first_token_cost_ms: int = 0
    generation_time_ms: int = 0
    stream_mode: bool = False
    log_path: str | None = None

    def gen_log(self, lang: str = "zh") -> str:
        tokens = f"{self.token_input}+{self.token_output} tokens"
        return f"[{self.use_model}] {tokens}, {self.generation_time_ms} ms"

    def price_consumption(
        self, base_rate: float = 1, completion_rate: float = 1, token_price: float = 1
    ) -> float:
        return (self.token_input + self.token_output * completion_rate) * base_rate * token_price


class OpenAIStreamChunk(BaseModel):
    chunk_text: str
    thought_chain: str = ""
    token_consumption: int = 0
    token_input: int = 0
    token_output: int = 0


def parse_extra_body(extra_body_json: str | None, source_hint: str = "") -> dict[str, Any] | None:
    """A JSON object, or None for anything else."""
    try:
        parsed = json.loads(extra_body_json or "null")
    except json.JSONDecodeError:
        return None
    return parsed if isinstance(parsed, dict) else None


def _as_dicts(messages: Any) -> list[dict[str, Any]]:
    given = messages if isinstance(messages, (list, tuple)) else [messages]
    return [it.to_dict() if isinstance(it, OpenAIChatMessage) else dict(it) for it in given]


def _request(messages: list[dict[str, Any]], settings: dict[str, Any], extra: Any) -> dict[str, Any]:
    body = parse_extra_body(extra) if isinstance(extra, str) else extra
    return {"messages": messages, **{k: v for k, v in settings.items() if v is not None}, **(body or {})}


def _is_hosted(model: str, base_url: str | None) -> bool:
    ours = {group.BASE_URL for group in config.MODEL_GROUPS.values()}
    names = {group.CHAT_MODEL for group in config.MODEL_GROUPS.values()} | set(config.MODEL_GROUPS)
    return not base_url or (base_url in ours and model in names)


async def gen_openai_chat_response(
    model: str,
    messages: Any,
    temperature: float | None = None,
    frequency_penalty: float | None = None,
    presence_penalty: float | None = None,
    top_p: float | None = None,
    stop_words: list[str] | None = None,
    max_tokens: int | None = None,
    extra_body: dict[str, Any] | str | None = None,
    top_k: int | None = None,
    api_key: str | None = None,
    base_url: str | None = None,
    proxy_url: str | None = None,
    stream_mode: bool = False,
    max_wait_time: int | None = None,
    log_path: Any = None,
    error_log_path: Any = None,
    chunk_callback: Callable[[OpenAIStreamChunk], Awaitable[bool | None]] | None = None,
    **_: Any,
) -> OpenAIResponse:
    """The whole answer. `chunk_callback` hears it grow; returning True ends it early."""
    given = _as_dicts(messages)
    settings = {
        "temperature": temperature, "frequency_penalty": frequency_penalty,
        "presence_penalty": presence_penalty, "top_p": top_p, "stop": stop_words,
        "max_tokens": max_tokens, "top_k": top_k,
    }
    request = _request(given, settings, extra_body)
    began = time.monotonic()
    if _is_hosted(model, base_url):
        answer = await _ask_host(model, request, chunk_callback)
    else:
        answer = await direct.chat(model, request, base_url, api_key, proxy_url, max_wait_time)
    spent = time.monotonic() - began
    usage = answer.get("usage") or {}
    taken, made = int(usage.get("input") or 0), int(usage.get("output") or 0)
    return OpenAIResponse(
        response_content=answer.get("text") or "",
        thought_chain=answer.get("thinking") or "",
        messages=given,
        message_cnt=len(given),
        token_consumption=taken + made,
        token_input=taken,
        token_output=made,
        use_model=answer.get("model") or model,
        speed_tokens_per_second=made / spent if spent else 0.0,
        generation_time_ms=int(spent * 1000),
        stream_mode=stream_mode,
    )


async def _ask_host(
    model: str,
    request: dict[str, Any],
    callback: Callable[[OpenAIStreamChunk], Awaitable[bool | None]] | None,
) -> dict[str, Any]:
    text = thinking = ""
    events = host.stream("model_chat", model=_model_id(model), request=request)
    try:
        async for event in events:
            piece, thought = event.get("text") or "", event.get("thinking") or ""
            text, thinking = text + piece, thinking + thought
            if callback is None or not (piece or thought):
                continue
            if await callback(OpenAIStreamChunk(chunk_text=piece, thought_chain=thought)):
                return {"text": text, "thinking": thinking}
        final = events.result
    finally:
        await events.aclose()
    return {"text": text, "thinking": thinking, **(final if isinstance(final, dict) else {})}


def _model_id(model: str) -> str:
    """A group's name stands for its model; the host knows what no name means."""
    group = config.MODEL_GROUPS.get(model)
    return group.CHAT_MODEL if group else model


async def gen_openai_chat_stream(
    model: str,
    messages: Any,
    base_url: str | None = None,
    api_key: str | None = None,
    proxy_url: str | None = None,
    **settings: Any,
) -> AsyncIterator[str]:
    """The answer's text as it grows."""
    extra = settings.pop("extra_body", None)
    settings["stop"] = settings.pop("stop_words", None)
    request = _request(_as_dicts(messages), settings, extra)
    if not _is_hosted(model, base_url):
        yield (await direct.chat(model, request, base_url, api_key, proxy_url, None))["text"]
        return
    events = host.stream("model_chat", model=_model_id(model), request=request)
    try:
        async for event in events:
            if event.get("text"):
                yield event["text"]
    finally:
        await events.aclose()


async def gen_openai_embeddings(
    model: str,
    input: str | list[Any],
    api_key: str | None = None,
    base_url: str | None = None,
    dimensions: int | None = None,
    proxy_url: str | None = None,
    endpoint: str = "/embeddings",
    timeout: int = 10,
) -> list[float]:
    """The vector of one text."""
    if not _is_hosted(model, base_url):
        return await direct.embed(model, input, base_url, api_key, dimensions, proxy_url, endpoint, timeout)
    texts = [input] if isinstance(input, str) else input
    vectors = await host.call("model_embed", model=_model_id(model), input=texts, dimensions=dimensions)
    return vectors[0]
