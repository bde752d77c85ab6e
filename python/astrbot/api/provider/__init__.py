"""Models: requests, answers, base classes."""

from astrbot.core.db.po import Personality
from astrbot.core.provider import Provider, STTProvider
from astrbot.core.provider.entities import LLMResponse, ProviderMetaData, ProviderRequest, ProviderType

__all__ = [
    "LLMResponse",
    "Personality",
    "Provider",
    "ProviderMetaData",
    "ProviderRequest",
    "ProviderType",
    "STTProvider",
]
