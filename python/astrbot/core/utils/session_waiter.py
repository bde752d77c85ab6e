"""Waiting for the next message of a session inside a handler.

A handler suspended here holds no lease; the dispatcher offers every event to the waiters first."""

from __future__ import annotations

import asyncio
import copy
import functools
import time
from collections.abc import Awaitable, Callable
from typing import Any

from astrbot import texts
from astrbot.core.message.components import BaseMessageComponent
from astrbot.core.platform import AstrMessageEvent
from callgate_worker import language

USER_SESSIONS: dict[str, SessionWaiter] = {}
FILTERS: list[SessionFilter] = []
_timers: set[asyncio.Task] = set()


class SessionController:
    def __init__(self) -> None:
        self.future: asyncio.Future = asyncio.get_running_loop().create_future()
        self.current_event: asyncio.Event | None = None
        self.ts: float | None = None
        self.timeout: float | None = None
        self.history_chains: list[list[BaseMessageComponent]] = []

    def stop(self, error: Exception | None = None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(None)
        else:
            self.future.set_exception(error)

    def keep(self, timeout: float = 0, reset_timeout: bool = False) -> None:
        """Goes on waiting: for `timeout` seconds from now, or for that much longer than before."""
        now = time.time()
        if not reset_timeout:
            assert self.timeout is not None and self.ts is not None
            timeout += self.timeout - (now - self.ts)
        if timeout <= 0:
            self.stop()
            return
        if self.current_event:
            self.current_event.set()
        self.ts, self.timeout, self.current_event = now, timeout, asyncio.Event()
        timer = asyncio.create_task(self._hold(self.current_event, timeout))
        _timers.add(timer)
        timer.add_done_callback(_timers.discard)

    async def _hold(self, replaced: asyncio.Event, timeout: float) -> None:
        try:
            await asyncio.wait_for(replaced.wait(), timeout)
        except TimeoutError:
            self.stop(TimeoutError(language.say(texts.WAIT_TIMEOUT)))

    def get_history_chains(self) -> list[list[BaseMessageComponent]]:
        return self.history_chains


class SessionFilter:
    """Says to which waiting session an event belongs."""

    def filter(self, event: AstrMessageEvent) -> str:
        raise NotImplementedError


class DefaultSessionFilter(SessionFilter):
    def filter(self, event: AstrMessageEvent) -> str:
        return event.unified_msg_origin


class SessionWaiter:
    def __init__(self, session_filter: SessionFilter, session_id: str, record_history_chains: bool) -> None:
        self.session_id = session_id
        self.session_filter = session_filter
        self.handler: Callable[[SessionController, AstrMessageEvent], Awaitable[Any]] | None = None
        self.session_controller = SessionController()
        self.record_history_chains = record_history_chains
        self._lock = asyncio.Lock()

    async def register_wait(
        self, handler: Callable[[SessionController, AstrMessageEvent], Awaitable[Any]], timeout: int = 30
    ) -> Any:
        self.handler = handler
        USER_SESSIONS[self.session_id] = self
        self.session_controller.keep(timeout, reset_timeout=True)
        try:
            return await self.session_controller.future
        finally:
            self._cleanup()

    def _cleanup(self) -> None:
        if USER_SESSIONS.get(self.session_id) is self:
            del USER_SESSIONS[self.session_id]
        if self.session_filter in FILTERS:
            FILTERS.remove(self.session_filter)
        if self.session_controller.current_event:
            self.session_controller.current_event.set()
        self.session_controller.stop()

    @classmethod
    async def trigger(cls, session_id: str, event: AstrMessageEvent) -> None:
        waiter = USER_SESSIONS.get(session_id)
        if waiter is None:
            return
        controller = waiter.session_controller
        async with waiter._lock:
            if controller.future.done() or waiter.handler is None:
                return
            if waiter.record_history_chains:
                controller.history_chains.append([copy.deepcopy(part) for part in event.get_messages()])
            try:
                await waiter.handler(controller, event)
            except Exception as error:
                controller.stop(error)


def session_waiter(timeout: int = 30, record_history_chains: bool = False):
    def decorator(func: Callable[[SessionController, AstrMessageEvent], Awaitable[Any]]):
        @functools.wraps(func)
        async def wrapper(
            event: AstrMessageEvent, session_filter: SessionFilter | None = None, *args: Any, **kwargs: Any
        ):
            chosen = session_filter or DefaultSessionFilter()
            if not isinstance(chosen, SessionFilter):
                raise ValueError(texts.SESSION_FILTER_TYPE)
            FILTERS.append(chosen)
            waiter = SessionWaiter(chosen, chosen.filter(event), record_history_chains)
            return await waiter.register_wait(func, timeout)

        return wrapper

    return decorator


async def offer(event: AstrMessageEvent) -> None:
    """Gives an event to whoever waits for it; the event then goes no further."""
    for session_filter in list(FILTERS):
        session_id = session_filter.filter(event)
        if session_id in USER_SESSIONS:
            await SessionWaiter.trigger(session_id, event)
            event.stop_event()
