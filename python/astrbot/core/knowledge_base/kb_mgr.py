"""`context.kb_manager`: present, and empty. Plugins ask it and find no knowledge base."""

from __future__ import annotations

from typing import Any

from astrbot.core.exceptions import NotAvailableError


class KnowledgeBaseManager:
    def __init__(self, provider_manager: Any = None) -> None:
        self.provider_manager = provider_manager
        self.kb_insts: dict[str, Any] = {}

    async def list_kbs(self) -> list[Any]:
        return []

    async def get_kb(self, kb_id: str) -> None:
        return None

    async def get_kb_by_name(self, kb_name: str) -> None:
        return None

    async def retrieve(self, query: str, kb_names: list[str], **_: Any) -> None:
        return None

    async def create_kb(self, *_: Any, **__: Any) -> Any:
        raise NotAvailableError("knowledge bases are not offered here; use a memory plugin")
