"""What tools may return besides text: the result types of MCP."""

try:
    # The types alone: the whole package takes three times as long to import.
    from mcp_types import (
        BlobResourceContents,
        CallToolResult,
        EmbeddedResource,
        ImageContent,
        TextContent,
        TextResourceContents,
    )
except ImportError:  # mcp before 2
    from mcp.types import (
        BlobResourceContents,
        CallToolResult,
        EmbeddedResource,
        ImageContent,
        TextContent,
        TextResourceContents,
    )

__all__ = [
    "BlobResourceContents",
    "CallToolResult",
    "EmbeddedResource",
    "ImageContent",
    "TextContent",
    "TextResourceContents",
]
