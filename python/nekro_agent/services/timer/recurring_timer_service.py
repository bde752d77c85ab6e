"""Jobs by a cron expression. At each time the chat gets a system row and a turn.

The host keeps the time, also while no worker runs.
"""

import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from callgate_worker import host
from croniter import croniter

from nekro_agent import texts
from nekro_agent.core.logger import get_sub_logger
from nekro_agent.models.db_recurring_timer_job import DBRecurringTimerJob
from nekro_agent.services.message_service import message_service

logger = get_sub_logger("timer")
_NAME = "recurring"
_MOST_FAILURES = 5
_FARTHEST = 400


def _is_workday_in_china(day: date) -> bool:
    """Holidays there are moved by decree each year; of a year that is not known yet, weekdays."""
    try:
        from chinese_calendar import is_workday

        return is_workday(day)
    except (ImportError, NotImplementedError):
        return day.weekday() < 5


_DAYS: dict[str, Callable[[date], bool]] = {
    "mon_fri": lambda day: day.weekday() < 5,
    "weekend": lambda day: day.weekday() >= 5,
    "cn_workday": _is_workday_in_china,
    "cn_restday": lambda day: not _is_workday_in_china(day),
}


class RecurringTimerService:
    def __init__(self) -> None:
        self.running = False

    async def start(self) -> None:
        if self.running:
            return
        self.running = True
        active = await DBRecurringTimerJob.filter(status="active")
        waiting = {row["id"] for row in await host.call("timer_list", name=_NAME)} if active else set()
        for job in active:
            if _timer_of(job.job_id) not in waiting:
                await self.upsert_job(job)

    async def stop(self) -> None:
        self.running = False

    async def upsert_job(self, job: DBRecurringTimerJob) -> None:
        job.next_run_at = next_run(job)
        await job.save()
        await self._arm(job)

    async def pause_job(self, job: DBRecurringTimerJob) -> None:
        job.status, job.next_run_at = "paused", None
        await job.save()
        await _disarm(job.job_id)

    async def resume_job(self, job: DBRecurringTimerJob) -> None:
        job.status, job.consecutive_failures, job.last_error = "active", 0, None
        await self.upsert_job(job)

    async def delete_job(self, job_id: str) -> None:
        await _disarm(job_id)
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

    async def _arm(self, job: DBRecurringTimerJob) -> None:
        if job.next_run_at is None:
            await _disarm(job.job_id)
            return
        given = {
            "id": _timer_of(job.job_id), "name": _NAME, "session": job.chat_key, "timezone": job.timezone,
            "due": job.next_run_at.timestamp(), "text": job.title or job.event_desc, "payload": {"job_id": job.job_id},
        }
        try:
            await host.call("timer_set", cron=job.cron_expr, **given)
        except host.HostError:
            # croniter reads more than the host does; then each time sets the next.
            await host.call("timer_set", **given)

    async def due(self, job_id: str, due: float) -> None:
        """The host says that the time of a job has come."""
        job = await DBRecurringTimerJob.get_or_none(job_id=job_id)
        if job is None or job.status != "active":
            await _disarm(job_id)
            return
        late = datetime.now(UTC) - datetime.fromtimestamp(due, UTC)
        local = datetime.fromtimestamp(due, ZoneInfo(job.timezone))
        is_its_day = _DAYS.get(job.workday_mode, lambda _: True)(local.date())
        if is_its_day and late <= timedelta(seconds=job.misfire_grace_seconds):
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


def _timer_of(job_id: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"nekro/{_NAME}/{job_id}"))


async def _disarm(job_id: str) -> None:
    await host.call("timer_cancel", id=_timer_of(job_id))


def next_run(job: DBRecurringTimerJob, after: datetime | None = None) -> datetime | None:
    """The next moment the expression names, on a day of the job's kind."""
    zone = ZoneInfo(job.timezone)
    moments = croniter(job.cron_expr, (after or datetime.now(UTC)).astimezone(zone))
    wanted = _DAYS.get(job.workday_mode, lambda _: True)
    for _ in range(_FARTHEST):
        moment = moments.get_next(datetime)
        if wanted(moment.date()):
            return moment.astimezone(UTC)
    return None


recurring_timer_service = RecurringTimerService()
