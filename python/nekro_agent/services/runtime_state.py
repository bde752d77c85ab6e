"""Whether the process is about to end."""

_ending = False


def is_shutting_down() -> bool:
    return _ending


def begin_shutdown() -> None:
    global _ending
    _ending = True
