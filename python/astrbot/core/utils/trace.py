"""Notes a plugin may leave on an event; they end in the debug log."""

from __future__ import annotations

import logging
import uuid
from typing import Any

_log = logging.getLogger("astrbot.trace")


class TraceSpan:
    def __init__(
        self, name: str, umo: str | None = None, sender_name: str = "", message_outline: str = ""
    ) -> None:
        self.span_id = str(uuid.uuid4())
        self.name = name
        self.umo = umo

    def record(self, action: str, **fields: Any) -> None:
        _log.debug("%s %s %s", self.name, action, fields)
