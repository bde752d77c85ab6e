"""The channel `lane`: one blocking host call at a time, for synchronous plugin code."""

import itertools
import socket
import threading
from typing import Any

from callgate_worker import host
from callgate_worker.frames import ERROR, REQUEST, RESULT, Reader, frame_of

_CHUNK = 1 << 18


class Lane:
    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(True)
        self._connection = connection
        # One call at a time: whoever asks reads the answer.
        self._lock = threading.Lock()
        self._reader = Reader()
        self._ids = itertools.count(2, 2)

    def ask(self, name: str, arguments: dict[str, Any], token: bytes | None) -> Any:
        with self._lock:
            number = next(self._ids)
            head = (number, token, name, host.plugin.get())
            request = frame_of(REQUEST, head, arguments, f"{name}()")
            self._connection.sendall(request)
            kind, value = self._answer(number)
        if kind == RESULT:
            return value
        raise host.HostError(value["type"], value["message"], value.get("hint"))

    def _answer(self, number: int) -> tuple[int, Any]:
        while True:
            data = self._connection.recv(_CHUNK)
            if not data:
                raise host.HostError("NotConnected", "the host is gone")
            for kind, (answered, value) in self._reader.push(data):
                # An answer to a call that was interrupted is nobody's any more.
                if answered == number and kind in (RESULT, ERROR):
                    return kind, value
