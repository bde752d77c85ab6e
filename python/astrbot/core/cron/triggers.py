"""When a job runs: five fields of cron, or one moment."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger

from astrbot import logger
from astrbot.core.db.po import CronJob

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"^(?:(\*)|(\d+)(?:-(\d+))?)(?:/(\d+))?$")


def trigger(job: CronJob) -> CronTrigger | DateTrigger:
    """Raises ValueError or TypeError for what makes no sense."""
    zone = _zone(job.timezone)
    if job.run_once:
        return DateTrigger(run_date=_moment(job), timezone=zone)
    minute, hour, day, month, weekday = (job.cron_expression or "").split()
    return CronTrigger.from_crontab(f"{minute} {hour} {day} {month} {weekdays(weekday)}", timezone=zone)


def _moment(job: CronJob) -> datetime:
    given = job.payload.get("run_at") or job.cron_expression
    if not given:
        raise ValueError("a job that runs once needs run_at")
    moment = datetime.fromisoformat(given)
    zone = _zone(job.timezone)
    return moment.replace(tzinfo=zone) if moment.tzinfo is None and zone else moment


def _zone(name: str | None) -> ZoneInfo | None:
    """Compat(astrbot): an unknown zone is the machine's."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        logger.warning("there is no time zone %s, the machine's is used", name)
        return None


def next_run(job: CronJob) -> datetime | None:
    found = trigger(job).get_next_fire_time(None, datetime.now(timezone.utc))
    return found and found.astimezone(timezone.utc)


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
