"""Jobs of plugins by cron expression or at a moment.

A persistent job is a row of the host's and fires by the host's timer: it outlives this process. Handlers are
code and do not, so a plugin that adds a job of a known name takes its row over. Other jobs live here alone."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable
from dataclasses import asdict, fields
from datetime import datetime, timezone
from typing import Any

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from astrbot import logger
from astrbot.core.cron import triggers
from astrbot.core.db.po import CronJob
from callgate_worker import host

TIMER = "cron_job"
_ROWS = {"scope": "astrbot", "scope_id": "cron_jobs"}
_MOMENTS = ("last_run_at", "next_run_time")


class CronJobSchedulingError(Exception):
    """The expression or time of a job makes no sense."""


class CronJobManager:
    def __init__(self, db: Any = None) -> None:
        self.scheduler = AsyncIOScheduler()
        self._jobs: dict[str, CronJob] = {}
        self._owners: dict[str, str] = {}
        self._handlers: dict[str, Callable[..., Any]] = {}
        self._started = False

    async def start(self, ctx: Any) -> None:
        """Takes over the rows that earlier processes left."""
        self.ctx = ctx
        if self._started:
            return
        for row in await host.call("preference_list", **_ROWS):
            saved = dict(row["value"])
            self._owners[row["key"]] = saved.pop("plugin", "")
            self._jobs.setdefault(row["key"], _job(saved))
        self._started = True

    async def shutdown(self) -> None:
        if self.scheduler.running:
            self.scheduler.shutdown(wait=False)

    async def add_basic_job(
        self,
        *,
        name: str,
        cron_expression: str,
        handler: Callable[..., Any],
        description: str | None = None,
        timezone: str | None = None,
        payload: dict | None = None,
        enabled: bool = True,
        persistent: bool = False,
    ) -> CronJob:
        job = CronJob(self._id(name, persistent), name, "basic", cron_expression, timezone, payload or {})
        job.description, job.enabled, job.persistent = description, enabled, persistent
        self._handlers[job.job_id] = handler
        return await self._schedule(job)

    async def add_active_job(
        self,
        *,
        name: str,
        cron_expression: str | None,
        payload: dict,
        description: str | None = None,
        timezone: str | None = None,
        enabled: bool = True,
        persistent: bool = True,
        run_once: bool = False,
        run_at: datetime | None = None,
    ) -> CronJob:
        if run_once and run_at:
            payload = {**payload, "run_at": run_at.isoformat()}
        job = CronJob(str(uuid.uuid4()), name, "active_agent", cron_expression, timezone, payload)
        job.description, job.enabled, job.persistent = description, enabled, persistent
        job.run_once = run_once
        return await self._schedule(job)

    def _id(self, name: str, persistent: bool) -> str:
        """Of a job that waits for its handler to come back, or a new one."""
        plugin = host.plugin.get() or ""
        for id, job in self._jobs.items():
            lost = job.job_type == "basic" and id not in self._handlers
            if persistent and lost and (self._owners.get(id), job.name) == (plugin, name):
                return id
        return str(uuid.uuid4())

    def let_go(self, plugin: str) -> None:
        """The plugin's code is gone, and with it what only code can do."""
        for id in [id for id in self._handlers if self._owners.get(id) == plugin]:
            del self._handlers[id]
            if not self._jobs[id].persistent:
                del self._jobs[id]
                if self.scheduler.get_job(id):
                    self.scheduler.remove_job(id)

    async def update_job(self, job_id: str, **kwargs: Any) -> CronJob | None:
        job = self._jobs.get(job_id)
        if job is None:
            return None
        for name, value in kwargs.items():
            setattr(job, name, value)
        await self._forget(job_id)
        return await self._schedule(job)

    async def delete_job(self, job_id: str) -> None:
        await self._forget(job_id)
        self._handlers.pop(job_id, None)
        if (job := self._jobs.pop(job_id, None)) is not None and job.persistent:
            await host.call("preference_delete", **_ROWS, key=job_id)

    async def list_jobs(self, job_type: str | None = None) -> list[CronJob]:
        return [job for job in self._jobs.values() if job_type in (None, job.job_type)]

    async def run_job_now(self, job_id: str) -> None:
        if (job := self._jobs.get(job_id)) is not None:
            await self._run(job)

    def get_next_run_time(self, job_id: str) -> datetime | None:
        job = self._jobs.get(job_id)
        return triggers.next_run(job) if job is not None and job.enabled else None

    async def _schedule(self, job: CronJob) -> CronJob:
        try:
            trigger = triggers.trigger(job)
            job.next_run_time = triggers.next_run(job) if job.enabled else None
        except (ValueError, TypeError) as error:
            raise CronJobSchedulingError(str(error)) from error
        self._jobs[job.job_id] = job
        self._owners.setdefault(job.job_id, host.plugin.get() or "")
        if job.persistent:
            await self._save(job)
        if job.enabled and job.persistent:
            await self._set_timer(job)
        elif job.enabled:
            if not self.scheduler.running:
                self.scheduler.start()
            more = {"replace_existing": True, "misfire_grace_time": 30}
            self.scheduler.add_job(self.fire, trigger, args=[job.job_id], id=job.job_id, **more)
        return job

    async def _set_timer(self, job: CronJob) -> None:
        if job.next_run_time is None:
            return
        when: dict[str, Any] = {"due": job.next_run_time.timestamp()}
        if not job.run_once:
            when = {"cron": job.cron_expression, "timezone": job.timezone}
        await host.call(
            "timer_set",
            id=job.job_id,
            name=TIMER,
            payload={},
            text=job.description or job.name,
            session=job.payload.get("session"),
            **when,
        )

    async def _forget(self, job_id: str) -> None:
        if self.scheduler.get_job(job_id):
            self.scheduler.remove_job(job_id)
        if (job := self._jobs.get(job_id)) is not None and job.persistent:
            await host.call("timer_cancel", id=job_id)

    async def _save(self, job: CronJob) -> None:
        row = {**asdict(job), "plugin": self._owners.get(job.job_id, "")}
        for name in _MOMENTS:
            row[name] = row[name] and row[name].isoformat()
        await host.call("preference_set", **_ROWS, key=job.job_id, value=row)

    async def fire(self, job_id: str) -> None:
        """Its time has come."""
        job = self._jobs.get(job_id)
        if job is None or not job.enabled:
            return
        if job.job_type == "basic" and job_id not in self._handlers:
            logger.warning("no plugin has the handler of cron job %s any more: it is not run", job.name)
            return
        await self._run(job)
        if job.run_once:
            await self.delete_job(job_id)

    async def _run(self, job: CronJob) -> None:
        job.status, job.last_run_at, job.last_error = "running", datetime.now(timezone.utc), None
        host.plugin.set(self._owners.get(job.job_id, ""))
        try:
            await (self._handle(job) if job.job_type == "basic" else self._wake(job))
            job.status = "completed"
        except Exception as error:
            logger.exception("cron job %s failed", job.name)
            job.status, job.last_error = "failed", str(error)
        job.next_run_time = triggers.next_run(job)
        if job.persistent and job.job_id in self._jobs:
            await self._save(job)

    async def _handle(self, job: CronJob) -> None:
        result = self._handlers[job.job_id](**job.payload)
        if inspect.isawaitable(result):
            await result

    async def _wake(self, job: CronJob) -> None:
        """The model answers in the job's session as if it had been told so."""
        note = job.payload.get("note") or job.description or job.name
        session = job.payload.get("session") or f"cron:OtherMessage:{job.job_id}"
        await host.call("system_push", session=session, text=note, trigger=True)


def _job(row: dict[str, Any]) -> CronJob:
    known = {field.name for field in fields(CronJob)}
    for name in _MOMENTS:
        row[name] = row.get(name) and datetime.fromisoformat(row[name])
    return CronJob(**{name: value for name, value in row.items() if name in known})


__all__ = ["CronJobManager", "CronJobSchedulingError"]
