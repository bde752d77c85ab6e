"""Jobs by a cron expression. At each time the chat gets a system row and a turn."""

import asyncio
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from croniter import croniter

from nekro_agent import texts
from nekro_agent.core.logger import get_sub_logger
from nekro_agent.models.db_recurring_timer_job import DBRecurringTimerJob
from nekro_agent.services.message_service import message_service

logger = get_sub_logger("timer")
_LONGEST_NAP = 3600.0
_MOST_FAILURES = 5
_FARTHEST = 400
# Compat(nekro): holidays of China are moved by decree each year; without that list, weekdays.
_DAYS = {
    "mon_fri": lambda day: day < 5, "cn_workday": lambda day: day < 5,
    "weekend": lambda day: day >= 5, "cn_restday": lambda day: day >= 5,
}


class RecurringTimerService:
    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._firing: set[asyncio.Task[None]] = set()
        self.running = False

    async def start(self) -> None:
        if self.running:
            return
        self.running = True
        for job in await DBRecurringTimerJob.filter(status="active"):
            missed = job.next_run_at
            late = datetime.now(UTC) - missed if missed else timedelta(0)
            if missed and timedelta(0) < late <= timedelta(seconds=job.misfire_grace_seconds):
                self._launch(job.job_id)
            else:
                await self.upsert_job(job)

    async def stop(self) -> None:
        self.running = False
        for waiting in self._waiting.values():
            waiting.cancel()
        self._waiting.clear()

    async def upsert_job(self, job: DBRecurringTimerJob) -> None:
        job.next_run_at = next_run(job)
        await job.save()
        self._arm(job)

    async def pause_job(self, job: DBRecurringTimerJob) -> None:
        job.status, job.next_run_at = "paused", None
        await job.save()
        self._disarm(job.job_id)

    async def resume_job(self, job: DBRecurringTimerJob) -> None:
        job.status, job.consecutive_failures, job.last_error = "active", 0, None
        await self.upsert_job(job)

    async def delete_job(self, job_id: str) -> None:
        self._disarm(job_id)
        await DBRecurringTimerJob.filter(job_id=job_id).delete()

    async def run_now(self, job: DBRecurringTimerJob) -> bool:
        return await self._fire(job)

    async def list_jobs(
        self, chat_key: str, status: str | None = None, limit: int = 50
    ) -> list[DBRecurringTimerJob]:
        query = DBRecurringTimerJob.filter(chat_key=chat_key, **({"status": status} if status else {}))
        return await query.order_by("create_time").limit(limit)

    async def get_summary(
        self, chat_key: str, upcoming_limit: int, recent_limit: int
    ) -> tuple[int, int, list[DBRecurringTimerJob], list[DBRecurringTimerJob]]:
        """How many active, how many paused, those due next, those that ran last."""
        jobs = await DBRecurringTimerJob.filter(chat_key=chat_key)
        active = [job for job in jobs if job.status == "active"]
        upcoming = sorted((it for it in active if it.next_run_at), key=lambda it: it.next_run_at)
        recent = sorted((it for it in jobs if it.last_run_at), key=lambda it: it.last_run_at, reverse=True)
        return len(active), len(jobs) - len(active), upcoming[:upcoming_limit], recent[:recent_limit]

    def _arm(self, job: DBRecurringTimerJob) -> None:
        self._disarm(job.job_id)
        if job.next_run_at is None:
            return
        delay = max(0.0, (job.next_run_at - datetime.now(UTC)).total_seconds())
        loop = asyncio.get_running_loop()
        if delay > _LONGEST_NAP:
            self._waiting[job.job_id] = loop.call_later(_LONGEST_NAP, self._arm, job)
        else:
            self._waiting[job.job_id] = loop.call_later(delay, self._launch, job.job_id)

    def _disarm(self, job_id: str) -> None:
        waiting = self._waiting.pop(job_id, None)
        if waiting is not None:
            waiting.cancel()

    def _launch(self, job_id: str) -> None:
        task = asyncio.get_running_loop().create_task(self._run(job_id))
        self._firing.add(task)
        task.add_done_callback(self._firing.discard)

    async def _run(self, job_id: str) -> None:
        job = await DBRecurringTimerJob.get_or_none(job_id=job_id)
        if job is None or job.status != "active":
            return
        await self._fire(job)
        if job.consecutive_failures >= _MOST_FAILURES:
            await self.pause_job(job)
        else:
            await self.upsert_job(job)

    async def _fire(self, job: DBRecurringTimerJob) -> bool:
        about = f"[{job.title}] {job.event_desc}" if job.title else job.event_desc
        text = texts.RECURRING_FIRED.format(text=about)
        job.last_run_at = datetime.now(UTC)
        try:
            await message_service.push_system_message(job.chat_key, text, True)
        except Exception as error:
            logger.opt(exception=error).error(f"the recurring timer {job.job_id} failed")
            job.consecutive_failures += 1
            job.last_error = str(error) or type(error).__name__
        else:
            job.consecutive_failures, job.last_error = 0, None
        await job.save()
        return job.last_error is None


def next_run(job: DBRecurringTimerJob, after: datetime | None = None) -> datetime | None:
    """The next moment the expression names, on a day of the job's kind."""
    zone = ZoneInfo(job.timezone)
    moments = croniter(job.cron_expr, (after or datetime.now(UTC)).astimezone(zone))
    wanted = _DAYS.get(job.workday_mode, lambda _: True)
    for _ in range(_FARTHEST):
        moment = moments.get_next(datetime)
        if wanted(moment.weekday()):
            return moment.astimezone(UTC)
    return None


recurring_timer_service = RecurringTimerService()
