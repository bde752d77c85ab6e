"""What was said in a session: rows that plugins added for themselves, else those of the host's log, read-only."""

from __future__ import annotations

import time
from typing import Any

from astrbot.core.db.po import PlatformMessageHistory
from astrbot.core.message.components import At, Plain, Reply
from astrbot.core.message.message_event_result import MessageChain
from callgate_worker import host

_KEY = "platform_message_history"
# How the log names the assistant.
_OURS = "-1"


class PlatformMessageHistoryManager:
    """Plugins' own rows are kept as one preference per session, newest last."""

    def __init__(self, db_helper: Any = None) -> None:
        self.db = db_helper

    async def insert(
        self,
        platform_id: str,
        user_id: str,
        content: dict,
        sender_id: str | None = None,
        sender_name: str | None = None,
        llm_checkpoint_id: str | None = None,
        max_messages: int | None = None,
    ) -> PlatformMessageHistory:
        rows = await self._rows(platform_id, user_id)
        row = {
            "id": (rows[-1]["id"] + 1) if rows else 1,
            "content": content,
            "sender_id": sender_id,
            "sender_name": sender_name,
            "at": time.time(),
        }
        await self._save(platform_id, user_id, [*rows, row][-(max_messages or 1000) :])
        return _history(platform_id, user_id, row)

    async def insert_message_chain(
        self,
        platform_id: str,
        user_id: str,
        message_chain: MessageChain,
        role: str,
        sender_id: str | None = None,
        sender_name: str | None = None,
        max_messages: int | None = None,
    ) -> PlatformMessageHistory | None:
        parts = [part for part in map(_part, message_chain.chain) if part]
        if not parts:
            return None
        content = {"type": role, "message": parts}
        return await self.insert(
            platform_id, user_id, content, sender_id, sender_name, max_messages=max_messages
        )

    async def get(
        self, platform_id: str, user_id: str, page: int = 1, page_size: int = 200
    ) -> list[PlatformMessageHistory]:
        """Pages count from the newest; within a page the oldest comes first."""
        rows = await self._rows(platform_id, user_id)
        if not rows:
            return await _of_log(platform_id, user_id, page, page_size)
        end = len(rows) - (page - 1) * page_size
        return [_history(platform_id, user_id, row) for row in rows[max(0, end - page_size) : max(0, end)]]

    async def delete(self, platform_id: str, user_id: str, offset_sec: int = 86400) -> None:
        rows = await self._rows(platform_id, user_id)
        await self._save(platform_id, user_id, [row for row in rows if row["at"] >= time.time() - offset_sec])

    async def _rows(self, platform_id: str, user_id: str) -> list[dict]:
        from astrbot.core import sp

        return await sp.get_async(_KEY, f"{platform_id}/{user_id}", "rows", [])

    async def _save(self, platform_id: str, user_id: str, rows: list[dict]) -> None:
        from astrbot.core import sp

        await sp.put_async(_KEY, f"{platform_id}/{user_id}", "rows", rows)


async def _of_log(platform_id: str, user_id: str, page: int, page_size: int) -> list[PlatformMessageHistory]:
    for kind in ("FriendMessage", "GroupMessage", "OtherMessage"):
        rows = await host.call(
            "query",
            model="chat_message",
            filters={"chat_key": f"{platform_id}:{kind}:{user_id}"},
            order=["-id"],
            offset=(page - 1) * page_size,
            limit=page_size,
            verb="list",
        )
        if rows:
            return [_history(platform_id, user_id, _logged(row)) for row in reversed(rows)]
    return []


def _logged(row: dict) -> dict:
    said_by_us = str(row["sender_id"]) == _OURS
    parts = [{"type": "plain", "text": row["content_text"]}]
    return {
        "id": row["id"],
        "content": {"type": "bot" if said_by_us else "user", "message": parts},
        "sender_id": "bot" if said_by_us else row["sender_id"],
        "sender_name": row["sender_name"],
        "at": row["send_timestamp"],
    }


def _part(component: Any) -> dict | None:
    match component:
        case Plain():
            return {"type": "plain", "text": component.text} if component.text else None
        case At():
            return {"type": "at", "user_id": str(component.qq), "name": component.name or ""}
        case Reply():
            return {
                "type": "reply",
                "message_id": str(component.id),
                "sender_name": component.sender_nickname or "",
                "text": component.message_str or "",
            }
        case _:
            return {"type": "plain", "text": f"[{type(component).__name__}]"}


def _history(platform_id: str, user_id: str, row: dict) -> PlatformMessageHistory:
    from astrbot.core.db import moment

    return PlatformMessageHistory(
        id=row["id"],
        platform_id=platform_id,
        user_id=user_id,
        content=row["content"],
        sender_id=row["sender_id"],
        sender_name=row["sender_name"],
        created_at=moment(row["at"]),
        updated_at=moment(row["at"]),
    )
