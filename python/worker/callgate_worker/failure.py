"""An exception as the host reads it: type and text for the caller, the traceback for the operator."""

import os
import traceback
from typing import Any

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep


def describe(error: BaseException) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": type(error).__name__,
        "message": _text(error),
        "traceback": trace(error),
        "hint": _note(error),
    }
    if isinstance(error, ModuleNotFoundError) and error.name:
        described["missing"] = error.name
    return described


def trace(error: BaseException) -> str:
    """The traceback, without our own frames at its top: they say nothing about the plugin."""
    inner = error.__traceback__
    while inner is not None and inner.tb_frame.f_code.co_filename.startswith(_OURS):
        inner = inner.tb_next
    lines = traceback.format_exception(type(error), error, inner or error.__traceback__)
    # A text that cannot be written in UTF-8 must not keep the rest from being read.
    return "".join(lines).encode(errors="backslashreplace").decode()


def _text(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception as second:  # Any class may raise anything from its own __str__.
        text = f"(its text cannot be read: {type(second).__name__})"
    return text.encode(errors="backslashreplace").decode()


def _note(error: BaseException) -> str | None:
    hint = getattr(error, "hint", None)
    return hint if isinstance(hint, str) else None
