"""Words of texts in any language, Chinese among them, as the search by words takes them."""

from __future__ import annotations

import re
from pathlib import Path


def load_stopwords(path: Path | str) -> set[str]:
    return set(filter(None, map(str.strip, Path(path).read_text("utf-8").splitlines())))


def tokenize_text(text: str, stopwords: set[str]) -> list[str]:
    import jieba

    words = (word.strip() for word in jieba.cut(text or ""))
    return [word for word in words if word and word not in stopwords and re.search(r"\w", word)]


def to_fts5_search_text(text: str, stopwords: set[str]) -> str:
    return " ".join(tokenize_text(text, stopwords))


def build_fts5_or_query(tokens: list[str]) -> str:
    quoted = (token.replace('"', '""') for token in tokens if token)
    return " OR ".join(f'"{token}"' for token in quoted)
