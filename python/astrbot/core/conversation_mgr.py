"""Conversations of sessions. Every operation is one atomic call to the host."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from astrbot import logger, markers, texts
from astrbot.core.agent.message import AssistantMessageSegment, Message, UserMessageSegment
from astrbot.core.db import conversation as _row
from astrbot.core.db.po import Conversation, ConversationV2  # noqa: F401
from callgate_worker import host


_USAGE = {"scope": "astrbot", "scope_id": "token_usage"}


class ConversationManager:
    def __init__(self, db_helper: Any = None) -> None:
        self.db = db_helper
        self.session_conversations: dict[str, str] = {}
        self._token_usage: dict[str, int] | None = None
        self._on_session_deleted_callbacks: list[Callable[[str], Awaitable[None]]] = []

    def register_on_session_deleted(self, callback: Callable[[str], Awaitable[None]]) -> None:
        self._on_session_deleted_callbacks.append(callback)

    async def new_conversation(
        self,
        unified_msg_origin: str,
        platform_id: str | None = None,
        content: list[dict] | None = None,
        title: str | None = None,
        persona_id: str | None = None,
    ) -> str:
        return await host.call(
            "conversation_new",
            session=str(unified_msg_origin),
            platform=platform_id,
            history=_history(content),
            title=title,
            persona=persona_id,
        )

    async def switch_conversation(self, unified_msg_origin: str, conversation_id: str) -> None:
        await host.call("conversation_switch", session=str(unified_msg_origin), id=conversation_id)

    async def delete_conversation(self, unified_msg_origin: str, conversation_id: str | None = None) -> None:
        await host.call("conversation_delete", session=str(unified_msg_origin), id=conversation_id)

    async def delete_conversations_by_user_id(self, unified_msg_origin: str) -> None:
        for row in await host.call("conversation_list", session=str(unified_msg_origin)):
            await host.call("conversation_delete", session=str(unified_msg_origin), id=row["id"])
        for callback in self._on_session_deleted_callbacks:
            try:
                await callback(unified_msg_origin)
            except Exception:
                logger.exception("a callback for deleted sessions failed (%s)", unified_msg_origin)

    async def get_curr_conversation_id(self, unified_msg_origin: str) -> str | None:
        return await host.call("conversation_current", session=str(unified_msg_origin))

    async def get_conversation(
        self, unified_msg_origin: str, conversation_id: str, create_if_not_exists: bool = False
    ) -> Conversation | None:
        # Compat(astrbot): the session is not checked, any conversation can be read by its id.
        row = None
        if conversation_id:
            row = await host.call("conversation_get", session=str(unified_msg_origin), id=conversation_id)
        if row is None and create_if_not_exists:
            made = await self.new_conversation(unified_msg_origin)
            row = await host.call("conversation_get", session=str(unified_msg_origin), id=made)
        return _conversation(row, await self._usages()) if row else None

    async def get_conversations(
        self, unified_msg_origin: str | None = None, platform_id: str | None = None
    ) -> list[Conversation]:
        session = None if unified_msg_origin is None else str(unified_msg_origin)
        usages = await self._usages()
        return [
            _conversation(row, usages)
            for row in await host.call("conversation_list", session=session, platform=platform_id)
        ]

    async def get_filtered_conversations(
        self,
        page: int = 1,
        page_size: int = 20,
        platform_ids: list[str] | None = None,
        search_query: str = "",
        include_history: bool = True,
        **kwargs: Any,
    ) -> tuple[list[Conversation], int]:
        found = [
            one
            for one in await self.get_conversations()
            if (not platform_ids or one.platform_id in platform_ids)
            and (not search_query or search_query in (one.title or "") or search_query in one.history)
        ]
        return found[(page - 1) * page_size : page * page_size], len(found)

    async def update_conversation(
        self,
        unified_msg_origin: str,
        conversation_id: str | None = None,
        history: list[dict] | None = None,
        title: str | None = None,
        persona_id: str | None = None,
        token_usage: int | None = None,
    ) -> None:
        session = str(unified_msg_origin)
        chosen = conversation_id or await self.get_curr_conversation_id(session)
        if not chosen:
            return
        changes = {"history": _history(history), "title": title, "persona": persona_id}
        given = {name: value for name, value in changes.items() if value is not None}
        if given:
            await host.call("conversation_update", session=session, id=chosen, **given)
        if token_usage is not None:
            (await self._usages())[chosen] = token_usage
            await host.call("preference_set", **_USAGE, key=chosen, value=token_usage)

    async def _usages(self) -> dict[str, int]:
        """What plugins noted of conversations' tokens; read once, and then written through."""
        if self._token_usage is None:
            rows = await host.call("preference_list", **_USAGE)
            self._token_usage = {row["key"]: row["value"] for row in rows}
        return self._token_usage

    async def update_conversation_title(
        self, unified_msg_origin: str, title: str, conversation_id: str | None = None
    ) -> None:
        await self.update_conversation(unified_msg_origin, conversation_id, title=title)

    async def update_conversation_persona_id(
        self, unified_msg_origin: str, persona_id: str, conversation_id: str | None = None
    ) -> None:
        await self.update_conversation(unified_msg_origin, conversation_id, persona_id=persona_id)

    async def add_message_pair(
        self,
        cid: str,
        user_message: UserMessageSegment | dict,
        assistant_message: AssistantMessageSegment | dict,
    ) -> None:
        if not cid or await host.call("conversation_get", session=None, id=cid) is None:
            raise Exception(texts.CONVERSATION_NOT_FOUND.format(id=cid))
        await host.call(
            "conversation_append_pair",
            id=cid,
            user=_message(user_message),
            assistant=_message(assistant_message),
        )

    async def get_human_readable_context(
        self, unified_msg_origin: str, conversation_id: str, page: int = 1, page_size: int = 10
    ) -> tuple[list[str], int]:
        found = await self.get_conversation(unified_msg_origin, conversation_id)
        lines = _readable(json.loads(found.history)) if found else []
        return lines[(page - 1) * page_size : page * page_size], -(-len(lines) // page_size)


def _conversation(row: dict, usages: dict[str, int]) -> Conversation:
    stored = _row(row)
    return Conversation(
        platform_id=stored.platform_id,
        user_id=stored.user_id,
        cid=stored.conversation_id,
        history=json.dumps(stored.content or []),
        title=stored.title,
        persona_id=stored.persona_id,
        created_at=int(stored.created_at.timestamp()),
        updated_at=int(stored.updated_at.timestamp()),
        token_usage=usages.get(stored.conversation_id, 0),
    )


def _message(message: Message | dict) -> dict:
    return message.model_dump() if isinstance(message, Message) else message


def _history(messages: list | None) -> str | None:
    return None if messages is None else json.dumps([_message(one) for one in messages], ensure_ascii=False)


def _readable(history: list[dict]) -> list[str]:
    """Newest pair first."""
    pairs: list[list[str]] = []
    pair: list[str] = []
    for message in history:
        if message["role"] == "user":
            pair.append(f"User: {message['content']}")
        elif message["role"] == "assistant":
            if message.get("content"):
                pair.append(f"Assistant: {message['content']}")
            elif "tool_calls" in message:
                calls = json.dumps(message["tool_calls"], ensure_ascii=False)
                pair.append(markers.READABLE_TOOL_CALL.format(calls=calls))
            else:
                pair.append(markers.READABLE_UNKNOWN)
            pairs.insert(0, pair)
            pair = []
    return [line for one in pairs for line in one]
