"""`context.kb_manager`: knowledge bases of plugins, with the host's embeddings."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from astrbot import texts
from astrbot.core.knowledge_base.kb_helper import KBHelper
from astrbot.core.knowledge_base.models import KnowledgeBase, RetrievalResult
from astrbot.core.knowledge_base.shelf import Shelf


class KnowledgeBaseManager:
    def __init__(self, provider_manager: Any = None) -> None:
        self.provider_manager = provider_manager
        self._shelf = Shelf()
        self._known: dict[str, KBHelper] | None = None

    @property
    def kb_insts(self) -> dict[str, KBHelper]:
        if self._known is None:
            bases = self._shelf.bases()
            self._known = {base.kb_id: KBHelper(self._shelf, base, self.provider_manager) for base in bases}
        return self._known

    async def initialize(self) -> None:
        return None

    async def list_kbs(self) -> list[KnowledgeBase]:
        return [one.kb for one in self.kb_insts.values()]

    async def get_kb(self, kb_id: str) -> KBHelper | None:
        return self.kb_insts.get(kb_id)

    async def get_kb_by_name(self, kb_name: str) -> KBHelper | None:
        return next((one for one in self.kb_insts.values() if one.kb.kb_name == kb_name), None)

    async def create_kb(
        self,
        kb_name: str,
        description: str | None = None,
        emoji: str | None = None,
        embedding_provider_id: str | None = None,
        **sizes: Any,
    ) -> KBHelper:
        if embedding_provider_id is None:
            raise ValueError(texts.KB_NEEDS_EMBEDDING)
        if await self.get_kb_by_name(kb_name):
            raise ValueError(texts.KB_EXISTS.format(name=kb_name))
        given = {name: value for name, value in sizes.items() if value is not None}
        base = KnowledgeBase(kb_name, description, emoji or "📚", embedding_provider_id, **given)
        made = KBHelper(self._shelf, base, self.provider_manager)
        await made.initialize()
        self._shelf.keep_base(base)
        self.kb_insts[base.kb_id] = made
        return made

    async def update_kb(self, kb_id: str, kb_name: str | None = None, **changes: Any) -> KBHelper | None:
        found = await self.get_kb(kb_id)
        if found is None:
            return None
        for name, value in {"kb_name": kb_name, **changes}.items():
            if value is not None:
                setattr(found.kb, name, value)
        found.kb.updated_at = datetime.now(timezone.utc)
        self._shelf.keep_base(found.kb)
        return found

    async def delete_kb(self, kb_id: str) -> bool:
        if self.kb_insts.pop(kb_id, None) is None:
            return False
        self._shelf.remove_base(kb_id)
        return True

    async def retrieve(
        self, query: str, kb_names: list[str], top_k_fusion: int = 20, top_m_final: int = 5
    ) -> dict | None:
        """Compat(astrbot): no such base is an empty dictionary, nothing found is None."""
        asked = [one for one in [await self.get_kb_by_name(name) for name in kb_names] if one]
        if not asked:
            return {}
        found = [result for one in asked for result in await one.search(query)]
        found.sort(key=lambda result: -result.metadata["fusion"])
        found = found[:top_k_fusion][:top_m_final]
        if not found:
            return None
        return {"context_text": _shown(found), "results": [_row(result) for result in found]}


def _row(result: RetrievalResult) -> dict[str, Any]:
    names = ("chunk_id", "doc_id", "kb_id", "kb_name", "doc_name", "content", "score")
    about = {name: result.metadata[name] for name in ("chunk_index", "char_count")}
    return {**{name: getattr(result, name) for name in names}, **about}


def _shown(found: list[RetrievalResult]) -> str:
    lines = [texts.KB_HEAD]
    for number, one in enumerate(found, 1):
        lines.append(
            texts.KB_ITEM.format(
                number=number, base=one.kb_name, document=one.doc_name, text=one.content, score=one.score
            )
        )
    return "\n".join(lines)
