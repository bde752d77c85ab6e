"""Timers that come again, by a cron expression of five fields."""

import re
import secrets
import string
from datetime import datetime
from zoneinfo import ZoneInfo

from croniter import croniter

from nekro_agent import texts
from nekro_agent.models.db_recurring_timer_job import DBRecurringTimerJob
from nekro_agent.schemas.i18n import say
from nekro_agent.services.timer.recurring_timer_service import recurring_timer_service

__all__ = [
    "create_cron_job", "delete_job", "get_job", "get_job_id", "get_job_summary", "list_jobs",
    "pause_job", "resume_job", "run_now", "update_job", "validate_cron_expr", "validate_timezone",
]

_LETTERS = string.ascii_lowercase + string.digits


def get_job_id(job: DBRecurringTimerJob) -> str:
    return job.job_id


def validate_timezone(timezone: str) -> None:
    """Raises for a name that is no time zone."""
    ZoneInfo(timezone)


def validate_cron_expr(cron_expr: str, base_dt: datetime | None = None) -> None:
    """Raises ValueError for an expression that never comes due."""
    if not cron_expr.strip():
        raise ValueError("a cron expression is needed, such as '0 8 * * *'")
    croniter(cron_expr, base_dt or datetime.now()).get_next(datetime)


async def create_cron_job(
    chat_key: str,
    cron_expr: str,
    event_desc: str,
    timezone: str,
    workday_mode: str = "none",
    title: str | None = None,
) -> DBRecurringTimerJob:
    validate_timezone(timezone)
    validate_cron_expr(cron_expr)
    job = await DBRecurringTimerJob.create(
        job_id=await _free_id(),
        chat_key=chat_key,
        title=title,
        event_desc=event_desc,
        cron_expr=cron_expr,
        timezone=timezone,
        workday_mode=workday_mode,
    )
    await recurring_timer_service.upsert_job(job)
    return job


async def _free_id() -> str:
    length = 4
    while True:
        made = "".join(secrets.choice(_LETTERS) for _ in range(length))
        if not await DBRecurringTimerJob.exists(job_id=made):
            return made
        length = min(length + 1, 12)


async def update_job(
    job_id: str,
    *,
    cron_expr: str | None = None,
    event_desc: str | None = None,
    timezone: str | None = None,
    workday_mode: str | None = None,
    title: str | None = None,
) -> DBRecurringTimerJob:
    job = await get_job(job_id)
    if cron_expr is not None:
        validate_cron_expr(cron_expr)
    if timezone is not None:
        validate_timezone(timezone)
    given = {
        "cron_expr": cron_expr, "event_desc": event_desc, "timezone": timezone,
        "workday_mode": workday_mode, "title": title,
    }
    job.update_from_dict({name: value for name, value in given.items() if value is not None})
    await job.save()
    if job.status == "active":
        await recurring_timer_service.upsert_job(job)
    return job


async def get_job(job_id: str) -> DBRecurringTimerJob:
    bare = job_id.strip()
    if not re.fullmatch(r"[a-z0-9]{4,12}", bare):
        raise ValueError(say(texts.BAD_JOB_ID, id=job_id))
    job = await DBRecurringTimerJob.get_or_none(job_id=bare)
    if job is None:
        raise ValueError(say(texts.NO_JOB, id=job_id))
    return job


async def delete_job(job_id: str) -> None:
    await recurring_timer_service.delete_job(job_id.strip())


async def pause_job(job_id: str) -> DBRecurringTimerJob:
    job = await get_job(job_id)
    await recurring_timer_service.pause_job(job)
    return job


async def resume_job(job_id: str) -> DBRecurringTimerJob:
    job = await get_job(job_id)
    await recurring_timer_service.resume_job(job)
    return job


async def run_now(job_id: str) -> bool:
    return await recurring_timer_service.run_now(await get_job(job_id))


async def list_jobs(
    chat_key: str, status: str | None = None, limit: int = 50
) -> list[DBRecurringTimerJob]:
    return await recurring_timer_service.list_jobs(chat_key, status, limit)


async def get_job_summary(
    chat_key: str, upcoming_limit: int, recent_limit: int
) -> tuple[int, int, list[DBRecurringTimerJob], list[DBRecurringTimerJob]]:
    return await recurring_timer_service.get_summary(chat_key, upcoming_limit, recent_limit)
