"""A question to one knowledge base: by meaning and by words, both rankings added."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from astrbot.core.knowledge_base.models import KnowledgeBase, RetrievalResult

from .tokenizer import tokenize_text

# The usual weight of a place in a ranking, so that two rankings can be added.
_FUSION = 60


async def search(kb: KnowledgeBase, vec_db: Any, names: dict[str, str], query: str) -> list[RetrievalResult]:
    """The best first; the score is the likeness of meaning. `names` are those of the documents."""
    near = await vec_db.retrieve(query, k=kb.top_k_dense)
    storage = vec_db.document_storage
    asked = await asyncio.to_thread(tokenize_text, query, storage.stopwords)
    worded = await storage.search_sparse(asked, kb.top_k_sparse)
    score = {one.data["doc_id"]: one.similarity for one in near}
    rows: dict[str, dict] = {}
    weight: dict[str, float] = {}
    for ranking in ([one.data for one in near], worded):
        for rank, row in enumerate(ranking):
            rows[row["doc_id"]] = row
            weight[row["doc_id"]] = weight.get(row["doc_id"], 0.0) + 1 / (_FUSION + rank)
    found = []
    for id in sorted(weight, key=lambda id: -weight[id]):
        text, about = rows[id]["text"], json.loads(rows[id]["metadata"] or "{}")
        document = about.get("kb_doc_id", "")
        found.append(
            RetrievalResult(
                chunk_id=id,
                doc_id=document,
                doc_name=names.get(document, ""),
                kb_id=kb.kb_id,
                kb_name=kb.kb_name,
                content=text,
                score=score.get(id, 0.0),
                metadata={
                    "chunk_index": about.get("chunk_index", 0),
                    "char_count": len(text),
                    "fusion": weight[id],
                },
            )
        )
    return found
