"""Models as plugins see them."""

from .entities import ProviderMetaData
from .provider import Provider, STTProvider

__all__ = ["Provider", "ProviderMetaData", "STTProvider"]
