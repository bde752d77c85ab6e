"""Times in UTC."""

from datetime import datetime, timezone


def normalize_datetime_utc(value: datetime | None) -> datetime | None:
    if value is None:
        return None
    return value.replace(tzinfo=timezone.utc) if value.tzinfo is None else value.astimezone(timezone.utc)


def to_utc_timestamp(value: datetime | None) -> float | None:
    moment = normalize_datetime_utc(value)
    return None if moment is None else moment.timestamp()


def to_utc_isoformat(value: datetime | None) -> str | None:
    moment = normalize_datetime_utc(value)
    return None if moment is None else moment.isoformat()
