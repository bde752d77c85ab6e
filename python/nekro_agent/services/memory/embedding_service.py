"""Vectors of texts."""

import math

from nekro_agent.core.config import config
from nekro_agent.services.agent.openai import gen_openai_embeddings


def get_memory_embedding_dimension() -> int:
    return max(1, config.MEMORY_EMBEDDING_DIMENSION)


def get_memory_embedding_model_group() -> str:
    return config.MEMORY_EMBEDDING_MODEL_GROUP


class EmbeddingService:
    def __init__(
        self, model_group: str | None = None, dimension: int | None = None, timeout: int = 30
    ) -> None:
        self.model_group = model_group
        self.dimension = dimension
        self.timeout = timeout

    @property
    def resolved_dimension(self) -> int:
        return self.dimension or get_memory_embedding_dimension()

    @property
    def resolved_model_group(self) -> str:
        return self.model_group or get_memory_embedding_model_group()

    async def embed_text(self, text: str) -> list[float]:
        group = config.get_model_group_info(self.resolved_model_group)
        return await gen_openai_embeddings(
            group.CHAT_MODEL, text, group.API_KEY, group.BASE_URL, self.resolved_dimension
        )

    async def embed_batch(self, texts: list[str], batch_size: int = 10) -> list[list[float] | None]:
        return [await self.embed_text(text) for text in texts]

    async def compute_similarity(self, text1: str, text2: str) -> float:
        one, other = await self.embed_text(text1), await self.embed_text(text2)
        lengths = math.hypot(*one) * math.hypot(*other)
        return sum(a * b for a, b in zip(one, other, strict=False)) / lengths if lengths else 0.0


embedding_service = EmbeddingService()


async def embed_text(text: str) -> list[float]:
    return await embedding_service.embed_text(text)


async def embed_batch(texts: list[str]) -> list[list[float] | None]:
    return await embedding_service.embed_batch(texts)
