"""One-shot timers. The host keeps them and wakes the worker: they outlive every process.

A timer with a callback is code of the running plugin, and lives as long as that runs.
"""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from callgate_worker import host

from nekro_agent import texts
from nekro_agent.core.logger import get_sub_logger
from nekro_agent.services.message_service import message_service

logger = get_sub_logger("timer")
# Beyond this a moment has no date.
_LATEST = 253_402_300_799
_NAME = "one_shot"


@dataclass(eq=False)
class TimerTask:
    chat_key: str
    trigger_time: int
    event_desc: str
    task_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    temporary: bool = False
    callback: Callable[[], Awaitable[None]] | None = None


class TimerService:
    def __init__(self) -> None:
        self.running = False
        self._ringing: dict[TimerTask, asyncio.Task[None]] = {}

    async def start(self) -> None:
        self.running = True

    async def stop(self) -> None:
        self.running = False
        for ringing in self._ringing.values():
            ringing.cancel()
        self._ringing.clear()

    @property
    def tasks(self) -> dict[str, list[TimerTask]]:
        """By chat."""
        found: dict[str, list[TimerTask]] = {}
        for task in self.get_all_timers(include_callbacks=True):
            found.setdefault(task.chat_key, []).append(task)
        return found

    async def set_timer(
        self,
        chat_key: str,
        trigger_time: int,
        event_desc: str,
        silent: bool = False,
        override: bool = False,
        temporary: bool | None = None,
        callback: Callable[[], Awaitable[None]] | None = None,
    ) -> bool:
        """Seconds since 1970. 0 starts a turn now; less than 0 clears, `temporary` says which."""
        if trigger_time < 0:
            await self._drop([it for it in self.get_timers(chat_key) if temporary in (None, it.temporary)])
            return True
        if trigger_time == 0:
            await message_service.schedule_agent_task(chat_key)
            return True
        if not time.time() < trigger_time <= _LATEST:
            return False
        if override:
            await self._drop([it for it in self.get_timers(chat_key) if it.temporary])
        task = TimerTask(chat_key, int(trigger_time), event_desc, temporary=override, callback=callback)
        if callback is not None:
            self._ringing[task] = asyncio.get_running_loop().create_task(self._ring(task))
            return True
        payload = {"chat_key": chat_key, "event_desc": event_desc, "temporary": override}
        await host.call(
            "timer_set", name=_NAME, session=chat_key, due=float(task.trigger_time), text=event_desc, payload=payload
        )
        return True

    def get_timers(self, chat_key: str) -> list[TimerTask]:
        return [task for task in self.get_all_timers(include_callbacks=True) if task.chat_key == chat_key]

    def get_all_timers(self, *, include_callbacks: bool = False) -> list[TimerTask]:
        kept = [_task(row["payload"], row["due"], row["id"]) for row in host.call_now("timer_list", name=_NAME)]
        return [*kept, *self._ringing] if include_callbacks else kept

    def get_timer_by_id(self, task_id: str) -> TimerTask | None:
        tasks = self.get_all_timers(include_callbacks=True)
        return next((task for task in tasks if task.task_id == task_id), None)

    async def delete_timer_by_id(self, task_id: str) -> bool:
        task = self.get_timer_by_id(task_id)
        return task is not None and await self._drop([task])

    async def trigger_timer_now(self, task_id: str) -> bool:
        task = self.get_timer_by_id(task_id)
        if task is None or not await self._drop([task]):
            return False
        await self._fire(task)
        return True

    async def due(self, payload: dict[str, Any], due: float, id: str) -> None:
        """The host says that a timer's time has come."""
        await self._fire(_task(payload, due, id))

    async def _ring(self, task: TimerTask) -> None:
        # In pieces: the wall clock may be set meanwhile.
        while (left := task.trigger_time - time.time()) > 0:
            await asyncio.sleep(min(left, 3600.0))
        self._ringing.pop(task, None)
        await self._fire(task)

    async def _fire(self, task: TimerTask) -> None:
        try:
            if task.callback is not None:
                await task.callback()
            elif task.event_desc:
                message = texts.TIMER_FIRED.format(text=task.event_desc)
                await message_service.push_system_message(task.chat_key, message, True)
            else:
                await message_service.schedule_agent_task(task.chat_key)
        except Exception as error:
            logger.opt(exception=error).error(f"the timer of {task.chat_key} failed")

    async def _drop(self, tasks: list[TimerTask]) -> bool:
        """Whether all of them were still waiting."""
        dropped = True
        for task in tasks:
            ringing = self._ringing.pop(task, None)
            if ringing is not None:
                ringing.cancel()
            else:
                dropped &= await host.call("timer_cancel", id=task.task_id)
        return dropped


def _task(payload: dict[str, Any], due: float, id: str) -> TimerTask:
    return TimerTask(payload["chat_key"], int(due), payload["event_desc"], id, payload["temporary"])


timer_service = TimerService()
