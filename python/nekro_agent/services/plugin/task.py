"""Background tasks of plugins, which report their progress by yielding. They end with the worker."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import BaseModel, ConfigDict, Field

from nekro_agent import texts
from nekro_agent.core.logger import get_sub_logger
from nekro_agent.schemas.i18n import say

if TYPE_CHECKING:
    from nekro_agent.services.plugin.base import NekroPlugin

logger = get_sub_logger("plugin_system")


class TaskSignal(str, Enum):
    PROGRESS = "progress"
    SUCCESS = "success"
    FAIL = "fail"
    CANCEL = "cancel"


class TaskCtl(BaseModel):
    """What a task says of itself."""

    model_config = ConfigDict(frozen=True)

    signal: TaskSignal
    message: str
    data: Any | None = None
    progress: int | None = Field(default=None, ge=0, le=100)

    @classmethod
    def report_progress(cls, message: str, percent: int = 0) -> "TaskCtl":
        return cls(signal=TaskSignal.PROGRESS, message=message, progress=percent)

    @classmethod
    def success(cls, message: str | None = None, data: Any = None) -> "TaskCtl":
        said = say(texts.TASK_DONE) if message is None else message
        return cls(signal=TaskSignal.SUCCESS, message=said, data=data)

    @classmethod
    def fail(cls, message: str, error: Exception | None = None) -> "TaskCtl":
        return cls(signal=TaskSignal.FAIL, message=message, data=error)

    @classmethod
    def cancel(cls, message: str | None = None) -> "TaskCtl":
        said = say(texts.TASK_CANCELLED) if message is None else message
        return cls(signal=TaskSignal.CANCEL, message=said)

    @property
    def is_terminal(self) -> bool:
        return self.signal is not TaskSignal.PROGRESS


class AsyncTaskHandle:
    """A running task's own handle: it waits for signals from outside."""

    def __init__(self, task_id: str, chat_key: str, plugin: "NekroPlugin") -> None:
        self.task_id = task_id
        self.chat_key = chat_key
        self.plugin = plugin
        self._waiters: dict[str, asyncio.Future[Any]] = {}
        self._cancelled = False

    async def wait(self, key: str, timeout: float | None = None) -> Any:
        """What `notify(key, ...)` brings. Raises TimeoutError, or CancelledError after `cancel_all`."""
        if self._cancelled:
            raise asyncio.CancelledError("the task has been cancelled")
        future = asyncio.get_running_loop().create_future()
        self._waiters[key] = future
        try:
            return await asyncio.wait_for(future, timeout or None)
        finally:
            if self._waiters.get(key) is future:
                del self._waiters[key]

    def _settle(self, key: str, settle: Callable[[asyncio.Future[Any]], object]) -> bool:
        future = self._waiters.get(key)
        if future is None or future.done():
            return False
        settle(future)
        return True

    def notify(self, key: str, data: Any = None) -> bool:
        return self._settle(key, lambda future: future.set_result(data))

    def cancel_wait(self, key: str) -> bool:
        return self._settle(key, lambda future: future.cancel())

    def cancel_all(self) -> int:
        self._cancelled = True
        return sum(self.cancel_wait(key) for key in list(self._waiters))

    async def notify_agent(self, message: str, trigger: bool = True) -> None:
        from nekro_agent.services.message_service import message_service

        await message_service.push_system_message(self.chat_key, message, trigger)

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled


class TaskRunner:
    """All tasks of the process; every `TaskRunner()` is the same one."""

    _instance: ClassVar["TaskRunner | None"] = None
    _functions: dict[str, Callable[..., Any]]
    _tasks: dict[str, "asyncio.Task[None]"]
    _handles: dict[str, AsyncTaskHandle]
    _states: dict[str, TaskCtl]

    def __new__(cls) -> "TaskRunner":
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance._functions, cls._instance._tasks = {}, {}
            cls._instance._handles, cls._instance._states = {}, {}
        return cls._instance

    def register_task_type(self, task_type: str, func: Callable[..., Any]) -> None:
        self._functions[task_type] = func

    def unregister_task_type(self, task_type: str) -> None:
        self._functions.pop(task_type, None)

    async def start(
        self,
        task_type: str,
        task_id: str,
        chat_key: str,
        plugin: "NekroPlugin",
        *args: Any,
        on_terminal: Callable[[TaskCtl], None] | None = None,
        **kwargs: Any,
    ) -> AsyncTaskHandle:
        key = f"{task_type}:{task_id}"
        if self.is_running(task_type, task_id):
            raise ValueError(f"the task {key} is running already")
        func = self._functions.get(task_type)
        if func is None:
            known = ", ".join(self._functions) or "none"
            raise ValueError(f"no task type '{task_type}'; there are: {known}")
        handle = self._handles[key] = AsyncTaskHandle(task_id, chat_key, plugin)
        self._states.pop(key, None)
        running = self._execute(key, func(handle, *args, **kwargs), on_terminal)
        self._tasks[key] = asyncio.get_running_loop().create_task(running)
        return handle

    async def _execute(self, key: str, work: Any, on_terminal: Callable[[TaskCtl], None] | None) -> None:
        final = TaskCtl.success()
        try:
            if inspect.isasyncgen(work):
                async for told in cast(AsyncIterator[TaskCtl], work):
                    self._states[key] = told
                    if told.is_terminal:
                        final = told
                        break
            else:
                await work
        except asyncio.CancelledError:
            final = TaskCtl.cancel()
        except Exception as error:
            logger.opt(exception=error).error(f"the task {key} failed")
            final = TaskCtl.fail(str(error) or type(error).__name__, error)
        self._states[key] = final
        self._handles.pop(key, None)
        self._tasks.pop(key, None)
        if on_terminal is not None:
            try:
                on_terminal(final)
            except Exception as error:
                logger.opt(exception=error).error(f"on_terminal of the task {key} failed")

    def get_handle(self, task_type: str, task_id: str) -> AsyncTaskHandle | None:
        return self._handles.get(f"{task_type}:{task_id}")

    def get_state(self, task_type: str, task_id: str) -> TaskCtl | None:
        return self._states.get(f"{task_type}:{task_id}")

    def is_running(self, task_type: str, task_id: str) -> bool:
        running = self._tasks.get(f"{task_type}:{task_id}")
        return running is not None and not running.done()

    async def cancel(self, task_type: str, task_id: str) -> bool:
        key = f"{task_type}:{task_id}"
        running, handle = self._tasks.get(key), self._handles.get(key)
        if running is None or running.done():
            return False
        if handle is not None:
            handle.cancel_all()
        running.cancel()
        await asyncio.wait([running], timeout=5)
        return True

    async def stop_all(self) -> int:
        return sum([await self.cancel(*key.split(":", 1)) for key in list(self._tasks)])

    async def stop_plugin(self, plugin: "NekroPlugin") -> None:
        """What goes with a plugin when it is unloaded."""
        for key, handle in list(self._handles.items()):
            if handle.plugin is plugin:
                await self.cancel(*key.split(":", 1))
        for task_type in plugin._async_tasks:
            self.unregister_task_type(task_type)

    def get_running_tasks(self) -> list[str]:
        return [key for key, running in self._tasks.items() if not running.done()]


TaskAPI = TaskRunner
task = TaskRunner()
