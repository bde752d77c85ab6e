"""One-shot timers. They outlive the worker: a missed one still fires within five minutes."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from nekro_agent import texts
from nekro_agent.core.logger import get_sub_logger
from nekro_agent.services.message_service import message_service
from nekro_agent.services.timer.kept import Kept

logger = get_sub_logger("timer")
_GRACE = 300
_LONGEST_NAP = 3600.0
# Beyond this a moment has no date.
_LATEST = 253_402_300_799


@dataclass(eq=False)
class TimerTask:
    chat_key: str
    trigger_time: int
    event_desc: str
    task_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    temporary: bool = False
    callback: Callable[[], Awaitable[None]] | None = None
    waiting: asyncio.TimerHandle | None = field(default=None, repr=False)


class TimerService:
    def __init__(self) -> None:
        self.tasks: dict[str, list[TimerTask]] = {}
        self.running = False
        self._kept = Kept("one_shot_timers.json")
        self._firing: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        if self.running:
            return
        self.running = True
        oldest = time.time() - _GRACE
        for row in self._kept.read():
            task = TimerTask(
                row["chat_key"], row["trigger_time"], row["event_desc"], row["task_id"], row["temporary"]
            )
            if task.trigger_time >= oldest:
                self._arm(task)
        self._keep()

    async def stop(self) -> None:
        self.running = False
        for task in self.get_all_timers(include_callbacks=True):
            if task.waiting is not None:
                task.waiting.cancel()
        self.tasks.clear()

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
            self._drop([it for it in self.get_timers(chat_key) if temporary in (None, it.temporary)])
            return True
        if trigger_time == 0:
            await message_service.schedule_agent_task(chat_key)
            return True
        if not time.time() < trigger_time <= _LATEST:
            return False
        if override:
            self._drop([it for it in self.get_timers(chat_key) if it.temporary])
        self._arm(TimerTask(chat_key, int(trigger_time), event_desc, temporary=override, callback=callback))
        self._keep()
        return True

    def get_timers(self, chat_key: str) -> list[TimerTask]:
        return list(self.tasks.get(chat_key, []))

    def get_all_timers(self, *, include_callbacks: bool = False) -> list[TimerTask]:
        tasks = [task for of_chat in self.tasks.values() for task in of_chat]
        return [task for task in tasks if include_callbacks or task.callback is None]

    def get_timer_by_id(self, task_id: str) -> TimerTask | None:
        tasks = self.get_all_timers(include_callbacks=True)
        return next((task for task in tasks if task.task_id == task_id), None)

    async def delete_timer_by_id(self, task_id: str) -> bool:
        task = self.get_timer_by_id(task_id)
        if task is not None:
            self._drop([task])
        return task is not None

    async def trigger_timer_now(self, task_id: str) -> bool:
        task = self.get_timer_by_id(task_id)
        if task is None:
            return False
        self._drop([task])
        await self._fire(task)
        return True

    def _arm(self, task: TimerTask) -> None:
        if task not in self.tasks.setdefault(task.chat_key, []):
            self.tasks[task.chat_key].append(task)
        delay = max(0.0, task.trigger_time - time.time())
        # Long waits in pieces: the wall clock may be set meanwhile.
        task.waiting = asyncio.get_running_loop().call_later(min(delay, _LONGEST_NAP), self._wake, task)

    def _wake(self, task: TimerTask) -> None:
        if task not in self.tasks.get(task.chat_key, []):
            return
        if task.trigger_time > time.time() + 0.5:
            self._arm(task)
            return
        self._drop([task])
        firing = asyncio.get_running_loop().create_task(self._fire(task))
        self._firing.add(firing)
        firing.add_done_callback(self._firing.discard)

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

    def _drop(self, tasks: list[TimerTask]) -> None:
        for task in tasks:
            if task.waiting is not None:
                task.waiting.cancel()
            self.tasks[task.chat_key].remove(task)
            if not self.tasks[task.chat_key]:
                del self.tasks[task.chat_key]
        self._keep()

    def _keep(self) -> None:
        """Callbacks are the running plugin's; only the others are written down."""
        names = ("chat_key", "trigger_time", "event_desc", "task_id", "temporary")
        self._kept.write([{name: getattr(task, name) for name in names} for task in self.get_all_timers()])


timer_service = TimerService()
