"""Mentions inside texts: `[@id:123@]` and `[@id:123;nickname:Bob@]`."""

import re

_AT = re.compile(r"\[@\s*id\s*:\s*(?P<id>[^;@\]]+?)\s*(?:;\s*nickname\s*:\s*(?P<name>[^@\]]*?)\s*)?@?\]")


def normalize_malformed_at_markup(text: str) -> str:
    """Mentions in their one form; models write several."""
    return _AT.sub(_written, text)


def _written(match: re.Match[str]) -> str:
    name = f";nickname:{match['name']}" if match["name"] else ""
    return f"[@id:{match['id']}{name}@]"


def neutralize_at_all_markup(text: str) -> str:
    """A mention of everybody becomes plain words."""
    return _AT.sub(lambda match: "@all" if match["id"].lower() == "all" else match[0], text)
