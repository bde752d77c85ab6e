"""Durations in words."""

_UNITS = (("天", 86_400), ("小时", 3_600), ("分钟", 60), ("秒", 1))


def format_duration(seconds: int) -> str:
    """`1天2小时3分钟4秒`."""
    told, rest = "", int(seconds)
    for word, length in _UNITS:
        count, rest = divmod(rest, length)
        told += f"{count}{word}" if count else ""
    return told or "0秒"
