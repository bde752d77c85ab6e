"""What tools may return besides text: the MCP result types, real ones where the package is installed."""

from __future__ import annotations

try:
    from mcp.types import (
        BlobResourceContents,
        CallToolResult,
        EmbeddedResource,
        ImageContent,
        TextContent,
        TextResourceContents,
    )
except ImportError:  # the worker's base set has mcp; a bare interpreter has not
    from dataclasses import dataclass, field
    from typing import Any

    @dataclass
    class TextContent:
        text: str
        type: str = "text"

    @dataclass
    class ImageContent:
        data: str
        mimeType: str = "image/png"
        type: str = "image"

    @dataclass
    class TextResourceContents:
        text: str
        uri: str = ""
        mimeType: str | None = None

    @dataclass
    class BlobResourceContents:
        blob: str
        uri: str = ""
        mimeType: str | None = None

    @dataclass
    class EmbeddedResource:
        resource: Any
        type: str = "resource"

    @dataclass
    class CallToolResult:
        content: list[Any] = field(default_factory=list)
        isError: bool = False


__all__ = [
    "BlobResourceContents",
    "CallToolResult",
    "EmbeddedResource",
    "ImageContent",
    "TextContent",
    "TextResourceContents",
]
