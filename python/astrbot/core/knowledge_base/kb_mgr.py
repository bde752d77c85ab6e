"""`context.kb_manager`: knowledge bases of plugins, with the host's embeddings."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from astrbot import texts
from astrbot.core.knowledge_base.kb_helper import KBHelper
from astrbot.core.knowledge_base.models import KBDocument, KnowledgeBase, RetrievalResult
from astrbot.core.knowledge_base.shelf import Shelf
from callgate_worker import language


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
        """Compat(astrbot): its id is taken for a name too."""
        named = (one for one in self.kb_insts.values() if one.kb.kb_name == kb_name)
        return next(named, self.kb_insts.get(kb_name))

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
        if any(one.kb.kb_name == kb_name for one in self.kb_insts.values()):
            raise ValueError(language.say(texts.KB_EXISTS, name=kb_name))
        given = {name: value for name, value in sizes.items() if value is not None}
        base = KnowledgeBase(kb_name, description, emoji or "📚", embedding_provider_id, **given)
        made = KBHelper(self._shelf, base, self.provider_manager)
        await made.initialize()
        self._shelf.keep_base(base)
        self.kb_insts[base.kb_id] = made
        return made

    async def update_kb(
        self,
        kb_id: str,
        kb_name: str | None = None,
        description: str | None = None,
        emoji: str | None = None,
        embedding_provider_id: str | None = None,
        rerank_provider_id: str | None = None,
        **sizes: Any,
    ) -> KBHelper | None:
        """Compat(astrbot): None changes nothing, except that it takes the model to rank with away."""
        found = await self.get_kb(kb_id)
        if found is None:
            return None
        given = {
            "kb_name": kb_name,
            "description": description,
            "emoji": emoji,
            "embedding_provider_id": embedding_provider_id,
            **sizes,
        }
        for name, value in given.items():
            if value is not None:
                setattr(found.kb, name, value)
        found.kb.rerank_provider_id = rerank_provider_id
        found.kb.updated_at = datetime.now(timezone.utc)
        self._shelf.keep_base(found.kb)
        # Opened anew with the models it has now.
        await found.terminate()
        return found

    async def delete_kb(self, kb_id: str) -> bool:
        if (found := self.kb_insts.pop(kb_id, None)) is None:
            return False
        await found.terminate()
        self._shelf.remove_base(kb_id)
        return True

    async def upload_from_url(self, kb_id: str, url: str, **options: Any) -> KBDocument:
        if (found := await self.get_kb(kb_id)) is None:
            raise ValueError(f"there is no knowledge base {kb_id}")
        return await found.upload_from_url(url, **options)

    async def terminate(self) -> None:
        for one in self.kb_insts.values():
            await one.terminate()

    async def retrieve(
        self, query: str, kb_names: list[str], top_k_fusion: int = 20, top_m_final: int = 5
    ) -> dict | None:
        """Compat(astrbot): no such base is an empty dictionary, nothing found is None."""
        asked = [one for one in [await self.get_kb_by_name(name) for name in kb_names] if one]
        if not asked:
            return {}
        found = [result for one in asked for result in await one.search(query)]
        found.sort(key=lambda result: -result.metadata["fusion"])
        found = await _ranked(query, found[:top_k_fusion], [await one.get_rp() for one in asked])
        found = found[:top_m_final]
        if not found:
            return None
        return {"context_text": _shown(found), "results": [_row(result) for result in found]}


async def _ranked(query: str, found: list[RetrievalResult], models: list[Any]) -> list[RetrievalResult]:
    """By the first model that ranks, if there is one."""
    model = next(filter(None, models), None)
    if model is None or not found:
        return found
    ranked = await model.rerank(query, [one.content for one in found])
    for one in ranked:
        found[one.index].score = one.relevance_score
    return [found[one.index] for one in sorted(ranked, key=lambda one: -one.relevance_score)]


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
