"""Commands that wait for the same person's next message in the same chat."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from nekro_agent import texts
from nekro_agent.schemas.i18n import say


@dataclass
class WaitSession:
    chat_key: str
    user_id: str
    callback_cmd: str
    context_data: dict[str, Any]
    timeout: float
    on_timeout_message: str = ""
    ending: asyncio.TimerHandle | None = field(default=None, repr=False)


class WaitSessionManager:
    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str], WaitSession] = {}
        self._telling: set[asyncio.Task[None]] = set()

    async def create_session(
        self,
        chat_key: str,
        user_id: str,
        callback_cmd: str,
        context_data: dict[str, Any] | None = None,
        timeout: float = 60.0,
        on_timeout_message: str = "",
    ) -> None:
        """A person has one of these per chat; a new one replaces it."""
        self.cancel(chat_key, user_id)
        session = WaitSession(
            chat_key, user_id, callback_cmd, context_data or {}, timeout, on_timeout_message
        )
        session.ending = asyncio.get_running_loop().call_later(timeout, self._expire, session)
        self._sessions[chat_key, user_id] = session

    def try_consume(self, chat_key: str, user_id: str) -> WaitSession | None:
        session = self._sessions.pop((chat_key, user_id), None)
        if session is not None and session.ending is not None:
            session.ending.cancel()
        return session

    def cancel(self, chat_key: str, user_id: str) -> None:
        self.try_consume(chat_key, user_id)

    def has_pending(self, chat_key: str, user_id: str) -> bool:
        return (chat_key, user_id) in self._sessions

    def _expire(self, session: WaitSession) -> None:
        if self._sessions.get((session.chat_key, session.user_id)) is session:
            del self._sessions[session.chat_key, session.user_id]
            task = asyncio.get_running_loop().create_task(self._tell(session))
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)

    async def _tell(self, session: WaitSession) -> None:
        from nekro_agent.services.message_service import message_service

        message = session.on_timeout_message or say(texts.WAIT_TIMEOUT)
        await message_service.push_system_message(session.chat_key, message)


wait_manager = WaitSessionManager()
