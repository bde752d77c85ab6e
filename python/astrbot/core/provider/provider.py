"""Base classes of providers, subclassed by plugins that bring a model of their own."""

from __future__ import annotations

import abc
import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from astrbot.core.agent.message import Message, is_checkpoint_message
from astrbot.core.provider.entities import LLMResponse, ProviderMeta, ProviderType, RerankResult
from astrbot.core.provider.register import provider_cls_map


class AbstractProvider(abc.ABC):  # noqa: B024 -- Compat(astrbot): its subclasses have the abstract methods
    _kind = ProviderType.CHAT_COMPLETION

    def __init__(self, provider_config: dict) -> None:
        self.model_name = ""
        self.provider_config = provider_config

    def set_model(self, model_name: str) -> None:
        self.model_name = model_name

    def get_model(self) -> str:
        return self.model_name

    def meta(self) -> ProviderMeta:
        kind = self.provider_config["type"]
        if kind not in provider_cls_map:
            raise ValueError(f"Provider type {kind} not registered")
        return ProviderMeta(
            self.provider_config.get("id", "default"),
            self.get_model(),
            kind,
            provider_cls_map[kind].provider_type,
        )

    async def test(self) -> None:
        return None


class _Configured(AbstractProvider):
    def __init__(self, provider_config: dict, provider_settings: dict) -> None:
        super().__init__(provider_config)
        self.provider_settings = provider_settings


class Provider(_Configured):
    @abc.abstractmethod
    def get_current_key(self) -> str: ...

    def get_keys(self) -> list[str]:
        return self.provider_config.get("key") or [""]

    @abc.abstractmethod
    def set_key(self, key: str) -> None: ...

    @abc.abstractmethod
    async def get_models(self) -> list[str]: ...

    @abc.abstractmethod
    async def text_chat(
        self, prompt: str | None = None, session_id: str | None = None, **kwargs: Any
    ) -> LLMResponse: ...

    async def text_chat_stream(
        self, prompt: str | None = None, session_id: str | None = None, **kwargs: Any
    ) -> AsyncGenerator[LLMResponse, None]:
        yield await self.text_chat(prompt=prompt, session_id=session_id, **kwargs)

    async def pop_record(self, context: list) -> None:
        """Drops the two oldest messages that are not the system prompt."""
        for place in [i for i, record in enumerate(context) if record["role"] != "system"][:2][::-1]:
            context.pop(place)

    def _ensure_message_to_dicts(self, messages: list[dict] | list[Message] | None) -> list[dict]:
        return [
            message.model_dump() if isinstance(message, Message) else message
            for message in messages or []
            if not is_checkpoint_message(message)
        ]

    async def test(self, timeout: float = 45.0) -> None:
        await asyncio.wait_for(self.text_chat(prompt="REPLY `PONG` ONLY"), timeout)


class STTProvider(_Configured):
    _kind = ProviderType.SPEECH_TO_TEXT

    @abc.abstractmethod
    async def get_text(self, audio_url: str) -> str: ...


class TTSProvider(_Configured):
    _kind = ProviderType.TEXT_TO_SPEECH

    def support_stream(self) -> bool:
        return False

    @abc.abstractmethod
    async def get_audio(self, text: str) -> str: ...


class EmbeddingProvider(_Configured):
    _kind = ProviderType.EMBEDDING

    @abc.abstractmethod
    async def get_embedding(self, text: str) -> list[float]: ...

    @abc.abstractmethod
    async def get_embeddings(self, text: list[str]) -> list[list[float]]: ...

    @abc.abstractmethod
    def get_dim(self) -> int: ...

    async def get_embeddings_batch(
        self,
        texts: list[str],
        batch_size: int = 16,
        tasks_limit: int = 3,
        max_retries: int = 3,
        progress_callback: Any = None,
    ) -> list[list[float]]:
        gate = asyncio.Semaphore(tasks_limit)
        done = 0

        async def batch(part: list[str]) -> list[list[float]]:
            nonlocal done
            async with gate:
                for attempt in range(max_retries):
                    try:
                        vectors = await self.get_embeddings(part)
                        break
                    except Exception:
                        if attempt == max_retries - 1:
                            raise
                        await asyncio.sleep(2**attempt)
                done += len(part)
                if progress_callback:
                    await progress_callback(done, len(texts))
                return vectors

        parts = [texts[start : start + batch_size] for start in range(0, len(texts), batch_size)]
        return [vector for vectors in await asyncio.gather(*map(batch, parts)) for vector in vectors]


class RerankProvider(_Configured):
    _kind = ProviderType.RERANK

    @abc.abstractmethod
    async def rerank(
        self, query: str, documents: list[str], top_n: int | None = None
    ) -> list[RerankResult]: ...


Providers = Provider | STTProvider | TTSProvider | EmbeddingProvider | RerankProvider
