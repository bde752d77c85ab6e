"""The frames of both channels, the Python half of crates/plugins/src/frame.rs.

A frame is `u32 length, u8 kind, body`; the body is a tuple that starts with the id of its request.
"""

import struct
from collections.abc import Iterator
from typing import Any

from callgate_guest import wire

REQUEST, RESULT, ERROR, ITEM, END, CREDIT, CANCEL, PING, PONG = range(1, 10)

_HEADER = struct.Struct("<IB")
_KIND = 0x7F


def frame(kind: int, *fields: Any) -> bytes:
    """A frame of plain fields."""
    return wire.frame(kind, wire.dumps(fields, "frame"))


def frame_of(kind: int, head: tuple[Any, ...], value: Any, root: str) -> bytes:
    """A frame that ends in a value of somebody else, which is refused by its place below `root`."""
    return wire.frame(kind, wire.dumps(value, root, head))


class Reader:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._received = bytearray()

    def push(self, data: bytes) -> Iterator[tuple[int, tuple[Any, ...]]]:
        received = self._received
        received += data
        start = 0
        while len(received) - start >= _HEADER.size:
            length, kind = _HEADER.unpack_from(received, start)
            end = start + 4 + length
            if len(received) < end:
                break
            body = bytes(received[start + _HEADER.size : end])
            start = end
            yield kind & _KIND, wire.loads(body, bool(kind & wire.PLAIN))
        del received[:start]
