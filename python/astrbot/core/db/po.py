"""Rows as plugins see them. The tables behind them are the host's."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, TypedDict


def _now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass
class Conversation:
    """A conversation with its history as JSON text."""

    platform_id: str
    user_id: str
    cid: str
    history: str = ""
    title: str | None = ""
    persona_id: str | None = ""
    created_at: int = 0
    updated_at: int = 0
    token_usage: int = 0


@dataclass
class ConversationV2:
    """The same with its history decoded."""

    conversation_id: str
    platform_id: str
    user_id: str
    content: list | None = None
    title: str | None = None
    persona_id: str | None = None
    token_usage: int = 0
    created_at: datetime = field(default_factory=_now)
    updated_at: datetime = field(default_factory=_now)


@dataclass
class Persona:
    persona_id: str
    system_prompt: str
    begin_dialogs: list | None = None
    tools: list | None = None
    skills: list | None = None
    custom_error_message: str | None = None
    folder_id: str | None = None
    sort_order: int = 0
    id: int | None = None
    created_at: datetime = field(default_factory=_now)
    updated_at: datetime = field(default_factory=_now)


@dataclass
class PersonaFolder:
    folder_id: str
    name: str
    parent_id: str | None = None
    description: str | None = None
    sort_order: int = 0


class Personality(TypedDict, total=False):
    """A persona in the shape of AstrBot 3."""

    prompt: str
    name: str
    begin_dialogs: list[str]
    mood_imitation_dialogs: list[str]
    tools: list[str] | None
    skills: list[str] | None
    custom_error_message: str | None
    _begin_dialogs_processed: list[dict]
    _mood_imitation_dialogs_processed: str


@dataclass
class Preference:
    scope: str
    scope_id: str
    key: str
    value: dict


@dataclass
class PlatformMessageHistory:
    id: int
    platform_id: str
    user_id: str
    content: Any
    sender_id: str | None = None
    sender_name: str | None = None
    created_at: datetime = field(default_factory=_now)
    updated_at: datetime = field(default_factory=_now)


@dataclass
class CronJob:
    job_id: str
    name: str
    job_type: str = "basic"
    cron_expression: str | None = None
    timezone: str | None = None
    payload: dict = field(default_factory=dict)
    description: str | None = None
    enabled: bool = True
    persistent: bool = False
    run_once: bool = False
    status: str = "scheduled"
    last_run_at: datetime | None = None
    next_run_time: datetime | None = None
    last_error: str | None = None


@dataclass
class ProviderStat:
    umo: str
    provider_id: str
    provider_model: str | None = None
    conversation_id: str | None = None
    token_input_other: int = 0
    token_input_cached: int = 0
    token_output: int = 0
    start_time: float = 0.0
    end_time: float = 0.0


@dataclass
class PlatformStat:
    timestamp: datetime
    platform_id: str
    platform_type: str
    count: int = 0


@dataclass
class Stats:
    platform: list[PlatformStat] = field(default_factory=list)


@dataclass
class Attachment:
    attachment_id: str
    path: str
    type: str
    mime_type: str
