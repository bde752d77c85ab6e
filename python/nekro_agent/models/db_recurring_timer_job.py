"""Jobs that come again. They are kept in the worker's own folder, not in the host's tables."""

import uuid
from datetime import UTC, datetime
from typing import Any

from nekro_agent.models.model import Model
from nekro_agent.models.query import Query
from nekro_agent.services.timer.kept import Kept

_TIMES = ("next_run_at", "last_run_at", "paused_notice_sent_at", "create_time", "update_time")
_kept = Kept("recurring_timers.json")
_rows: dict[str, dict[str, Any]] | None = None


def rows() -> dict[str, dict[str, Any]]:
    global _rows
    if _rows is None:
        _rows = {row["id"]: {name: _read(name, value) for name, value in row.items()} for row in _kept.read()}
    return _rows


def _read(name: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if name in _TIMES and value else value


def _keep() -> None:
    plain = [
        {name: it.isoformat() if isinstance(it, datetime) else it for name, it in row.items()}
        for row in rows().values()
    ]
    _kept.write(plain)


class _Local(Query[Any]):
    """The few things that jobs are asked: equality, order, slice."""

    async def ask(self, verb: str, values: dict[str, Any] | None = None) -> Any:
        given = self.arguments(verb, values)
        if verb == "create":
            return _create(given["values"])
        found = [
            row for row in rows().values() if all(row.get(k) == v for k, v in given["filters"].items())
        ]
        for column in reversed(self.order):
            name = column.lstrip("-")
            found.sort(key=lambda row: (row.get(name) is None, row.get(name)), reverse=column[0] == "-")
        if verb == "update":
            for row in found:
                row |= given["values"] | {"update_time": datetime.now(UTC)}
        elif verb == "delete":
            for row in found:
                del rows()[row["id"]]
        if verb in ("update", "delete"):
            _keep()
        found = found[self.skipped :][: self.wanted]
        return found if verb == "list" else bool(found) if verb == "exists" else len(found)


def _create(values: dict[str, Any]) -> dict[str, Any]:
    now = datetime.now(UTC)
    row = {**values, "id": str(uuid.uuid4()), "create_time": now, "update_time": now}
    rows()[row["id"]] = row
    _keep()
    return row


class DBRecurringTimerJob(Model):
    TABLE = "recurring_timer_job"
    COLUMNS = {
        "id": str, "job_id": str, "chat_key": str, "title": str, "event_desc": str, "cron_expr": str,
        "timezone": str, "workday_mode": str, "status": str, "next_run_at": datetime,
        "last_run_at": datetime, "misfire_policy": str, "misfire_grace_seconds": int,
        "consecutive_failures": int, "last_error": str, "paused_notice_sent_at": datetime,
        "create_time": datetime, "update_time": datetime,
    }
    DEFAULTS = {
        "workday_mode": "none", "status": "active", "misfire_policy": "fire_once",
        "misfire_grace_seconds": 300, "consecutive_failures": 0,
    }

    @classmethod
    def query(cls) -> Query[Any]:
        return _Local(cls)
