"""The logger plugins use. Lines go to standard error, which the host reads under their plugin's name."""

import sys
from typing import Any

from loguru import logger

__all__ = ["get_sub_logger", "logger", "write_to_host"]


def get_sub_logger(subsystem: str, log_name: str | None = None, **extra: Any) -> Any:
    """A logger whose records carry where they come from."""
    return logger.bind(subsystem=subsystem, log_name=log_name or subsystem, **extra)


def write_to_host() -> None:
    """One line per record, no colours, no timestamps: the host adds its own."""
    logger.remove()
    # `diagnose` would write the values of variables, and some are secrets.
    logger.add(_write, format="{level} {message}", level="INFO", backtrace=False, diagnose=False)


def _write(line: str) -> None:
    sys.stderr.write(line)
