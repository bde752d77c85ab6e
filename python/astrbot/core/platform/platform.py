"""The base of platform adapters. The host's own platforms appear as `HostedPlatform`."""

from __future__ import annotations

import abc
import uuid
from asyncio import Queue
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from astrbot.core.message.message_event_result import MessageChain

from .astr_message_event import AstrMessageEvent
from .astrbot_message import AstrBotMessage
from .elsewhere import refuse
from .message_session import MessageSesion
from .platform_metadata import PlatformMetadata


class PlatformStatus(Enum):
    PENDING = "pending"
    RUNNING = "running"
    ERROR = "error"
    STOPPED = "stopped"


@dataclass
class PlatformError:
    message: str
    timestamp: datetime = field(default_factory=datetime.now)
    traceback: str | None = None


class Platform(abc.ABC):
    def __init__(self, config: dict, event_queue: Queue) -> None:
        self.config = config
        self._event_queue = event_queue
        self.client_self_id = uuid.uuid4().hex
        self.status = PlatformStatus.PENDING
        self.errors: list[PlatformError] = []

    @property
    def last_error(self) -> PlatformError | None:
        return self.errors[-1] if self.errors else None

    def record_error(self, message: str, traceback_str: str | None = None) -> None:
        self.errors.append(PlatformError(message=message, traceback=traceback_str))
        self.status = PlatformStatus.ERROR

    def clear_errors(self) -> None:
        self.errors.clear()

    @abc.abstractmethod
    def run(self) -> Coroutine[Any, Any, None]: ...

    async def terminate(self) -> None:
        return None

    @abc.abstractmethod
    def meta(self) -> PlatformMetadata: ...

    async def send_by_session(self, session: MessageSesion, message_chain: MessageChain) -> None:
        from .outbox import send_chain

        await send_chain(str(session), message_chain)

    def commit_event(self, event: AstrMessageEvent) -> None:
        self._event_queue.put_nowait(event)

    def create_event(self, message: AstrBotMessage) -> AstrMessageEvent:
        return AstrMessageEvent(message.message_str, message, self.meta(), message.session_id)

    def get_client(self) -> object:
        return None

    async def webhook_callback(self, request: Any) -> Any:
        raise NotImplementedError(f"platform {self.meta().name} takes no webhooks")


class HostedPlatform(Platform):
    """A platform that the host speaks for."""

    def __init__(self, id: str, name: str, event_queue: Queue) -> None:
        super().__init__({"id": id, "type": name, "enable": True}, event_queue)
        self._meta = PlatformMetadata(name=name, description=f"{name} through the host", id=id)
        self.status = PlatformStatus.RUNNING

    async def run(self) -> None:
        return None

    def meta(self) -> PlatformMetadata:
        return self._meta

    def __getattr__(self, name: str) -> Any:
        refuse(self, name, self.__dict__["config"]["type"] if "config" in self.__dict__ else "another one")
