"""What plugins print and log, line by line, each under the name of the plugin whose code runs."""

import io
import logging
import os
import threading

from callgate_worker import host

# In front of a line: whose it is. Control characters, so that no ordinary line looks like it.
BEGIN, MIDDLE = "\x1e", "\x1f"


class Lines(io.TextIOBase):
    """A text stream that writes whole lines only."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        # Threads print too, and a line is one write.
        self._lock = threading.Lock()
        self._begun: dict[str, str] = {}

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        plugin = host.plugin.get()
        with self._lock:
            *lines, rest = (self._begun.get(plugin, "") + text).split("\n")
            self._begun[plugin] = rest
            if lines:
                self._emit(plugin, lines)
        return len(text)

    def flush(self) -> None:
        plugin = host.plugin.get()
        with self._lock:
            if rest := self._begun.pop(plugin, ""):
                self._emit(plugin, [rest])

    def _emit(self, plugin: str, lines: list[str]) -> None:
        mark = f"{BEGIN}{plugin}{MIDDLE}" if plugin else ""
        data = "".join(f"{mark}{line}\n" for line in lines).encode(errors="backslashreplace")
        while data:
            data = data[os.write(self._descriptor, data) :]


def install() -> None:
    import sys

    sys.stdout = sys.__stdout__ = Lines(1)
    sys.stderr = sys.__stderr__ = Lines(2)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
