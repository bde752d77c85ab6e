"""Jobs of plugins by cron expression: handlers run here, jobs that wake the agent are messages to its session."""

from __future__ import annotations

import inspect
import re
import uuid
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger

from astrbot import logger
from astrbot.core.db.po import CronJob
from callgate_worker import host

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"^(?:(\*)|(\d+)(?:-(\d+))?)(?:/(\d+))?$")


class CronJobSchedulingError(Exception):
    """The expression or time of a job makes no sense."""


class CronJobManager:
    def __init__(self, db: Any = None) -> None:
        self.scheduler = AsyncIOScheduler()
        self._jobs: dict[str, CronJob] = {}
        self._handlers: dict[str, Callable[..., Any]] = {}

    async def start(self, ctx: Any) -> None:
        self.ctx = ctx

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
        job = self._new(
            name, "basic", cron_expression, timezone, payload, description, enabled, persistent, False
        )
        self._handlers[job.job_id] = handler
        return self._schedule(job)

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
        job = self._new(
            name,
            "active_agent",
            cron_expression,
            timezone,
            payload,
            description,
            enabled,
            persistent,
            run_once,
        )
        return self._schedule(job)

    def _new(
        self,
        name: str,
        job_type: str,
        cron_expression: str | None,
        timezone: str | None,
        payload: dict | None,
        description: str | None,
        enabled: bool,
        persistent: bool,
        run_once: bool,
    ) -> CronJob:
        return CronJob(
            str(uuid.uuid4()),
            name,
            job_type,
            cron_expression,
            timezone,
            payload or {},
            description,
            enabled,
            persistent,
            run_once,
        )

    async def update_job(self, job_id: str, **kwargs: Any) -> CronJob | None:
        job = self._jobs.get(job_id)
        if job is None:
            return None
        for name, value in kwargs.items():
            setattr(job, name, value)
        self._forget(job_id)
        return self._schedule(job)

    async def delete_job(self, job_id: str) -> None:
        self._forget(job_id)
        self._handlers.pop(job_id, None)
        self._jobs.pop(job_id, None)

    async def list_jobs(self, job_type: str | None = None) -> list[CronJob]:
        return [job for job in self._jobs.values() if job_type in (None, job.job_type)]

    async def run_job_now(self, job_id: str) -> None:
        if job_id in self._jobs:
            await self._run(job_id)

    def get_next_run_time(self, job_id: str) -> datetime | None:
        scheduled = self.scheduler.get_job(job_id)
        moment = scheduled.next_run_time if scheduled else None
        return moment and moment.astimezone(timezone.utc)

    def _schedule(self, job: CronJob) -> CronJob:
        try:
            trigger = _trigger(job)
        except (ValueError, TypeError) as error:
            raise CronJobSchedulingError(str(error)) from error
        self._jobs[job.job_id] = job
        if job.enabled:
            if not self.scheduler.running:
                self.scheduler.start()
            self.scheduler.add_job(
                self._run,
                trigger,
                args=[job.job_id],
                id=job.job_id,
                replace_existing=True,
                misfire_grace_time=30,
            )
            job.next_run_time = self.get_next_run_time(job.job_id)
        return job

    def _forget(self, job_id: str) -> None:
        if self.scheduler.get_job(job_id):
            self.scheduler.remove_job(job_id)

    async def _run(self, job_id: str) -> None:
        job = self._jobs[job_id]
        job.status, job.last_run_at, job.last_error = "running", datetime.now(timezone.utc), None
        try:
            await (self._handle(job) if job.job_type == "basic" else self._wake(job))
            job.status = "completed"
        except Exception as error:
            logger.exception("cron job %s failed", job.name)
            job.status, job.last_error = "failed", str(error)
        job.next_run_time = self.get_next_run_time(job_id)
        if job.run_once:
            await self.delete_job(job_id)

    async def _handle(self, job: CronJob) -> None:
        result = self._handlers[job.job_id](**job.payload)
        if inspect.isawaitable(result):
            await result

    async def _wake(self, job: CronJob) -> None:
        note = job.payload.get("note") or job.description or job.name
        await host.call("system_push", session=job.payload.get("session"), text=note, trigger=True)


def _trigger(job: CronJob) -> CronTrigger | DateTrigger:
    zone = ZoneInfo(job.timezone) if job.timezone else None
    if job.run_once:
        moment = datetime.fromisoformat(job.payload.get("run_at") or job.cron_expression or "")
        return DateTrigger(run_date=moment, timezone=zone)
    minute, hour, day, month, weekday = (job.cron_expression or "").split()
    return CronTrigger.from_crontab(f"{minute} {hour} {day} {month} {weekdays(weekday)}", timezone=zone)


def weekdays(text: str) -> str:
    """Compat(astrbot): 0 and 7 are Sunday, where APScheduler would count from Monday."""
    named: list[str] = []
    for part in text.lower().split(","):
        match = _PART.fullmatch(part.strip())
        if not match:
            named.append(part.strip())
            continue
        every, start, end, step = match.groups()
        first, last = (0, 6) if every else (int(start), int(end or (7 if step else start)))
        if not 0 <= first <= last <= 7 or step == "0":
            raise ValueError(f"weekdays are 0 to 7, in order: {part}")
        days = list(dict.fromkeys(value % 7 for value in range(first, last + 1, int(step or 1))))
        named += ["*"] if len(days) == 7 else [_DAYS[value] for value in days]
    return ",".join(named)
