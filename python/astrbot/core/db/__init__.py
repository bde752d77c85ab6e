"""`context.get_db()`: the few queries plugins make of AstrBot's database, answered by the host.

There is no SQL here and no session to open: those tables are the host's own."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

from astrbot.core.db.po import ConversationV2, Persona
from astrbot.core.exceptions import NotAvailableError
from callgate_worker import host


class BaseDatabase:
    inited = True

    async def initialize(self) -> None:
        return None

    async def get_conversations(
        self, user_id: str | None = None, platform_id: str | None = None
    ) -> list[ConversationV2]:
        rows = await host.call("conversation_list", session=user_id, platform=platform_id)
        return [conversation(row) for row in rows]

    async def get_all_conversations(self, page: int = 1, page_size: int = 20) -> list[ConversationV2]:
        rows = await self.get_conversations()
        return rows[(page - 1) * page_size : page * page_size]

    async def get_conversation_by_id(self, cid: str) -> ConversationV2 | None:
        row = await host.call("conversation_get", session=None, id=cid) if cid else None
        return conversation(row) if row else None

    async def get_persona_by_id(self, persona_id: str) -> Persona | None:
        row = await host.call("persona_get", name=persona_id)
        return persona(row) if row else None

    async def get_personas(self) -> list[Persona]:
        return [persona(row) for row in await host.call("persona_list")]

    def get_db(self) -> Any:
        raise NotAvailableError(
            "AstrBot's database is not open to SQL here; use the conversation, persona and preference managers"
        )


def conversation(row: dict) -> ConversationV2:
    return ConversationV2(
        conversation_id=row["id"],
        platform_id=row["platform"],
        user_id=row["session"],
        content=json.loads(row["history"] or "[]"),
        title=row["title"],
        persona_id=row["persona"],
        created_at=moment(row["created_at"]),
        updated_at=moment(row["updated_at"]),
    )


def persona(row: dict) -> Persona:
    return Persona(
        persona_id=row["name"],
        system_prompt=row["system_prompt"],
        begin_dialogs=row.get("begin_dialogs"),
        tools=row.get("methods"),
        skills=row.get("skills"),
        custom_error_message=row.get("custom_error_message"),
        id=row["id"],
        created_at=moment(row.get("created_at")),
        updated_at=moment(row.get("updated_at")),
    )


def moment(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=timezone.utc)
    return datetime.fromtimestamp(float(value or 0), timezone.utc)
