"""Message ids as models write them."""

import re

_DRESSED = re.compile(r"^\s*[\[(<\"']*\s*(?:(?:msg_?id|message_?id|ref)\s*[:=]\s*)?", re.IGNORECASE)


def normalize_ref_msg_id(value: object) -> str | None:
    """The bare id of `msg_id:123`, `[123]` and the like; None for nothing."""
    if value is None:
        return None
    bare = _DRESSED.sub("", str(value)).strip().strip("[]()<>\"'").strip()
    return bare or None
