"""Compat(astrbot): the historical spelling of `entities`, imported by plugins."""

from astrbot.core.provider.entities import (
    AssistantMessageSegment,
    LLMResponse,
    ProviderMetaData,
    ProviderRequest,
    ProviderType,
    ToolCallMessageSegment,
    ToolCallsResult,
)

__all__ = [
    "AssistantMessageSegment",
    "LLMResponse",
    "ProviderMetaData",
    "ProviderRequest",
    "ProviderType",
    "ToolCallMessageSegment",
    "ToolCallsResult",
]
