"""Calls from the code to the host: one socket, one call at a time, in order. There is no token: the
host knows which run this socket belongs to.
"""

import ctypes
import inspect
import os
import select
import socket
import struct
import threading
from typing import Any

from callgate_guest import clock, wire

INIT, VALUE, ERROR, END, CALL, DONE = 1, 2, 3, 4, 16, 17
PLAIN, BUSY, KIND = 0x80, 0x40, 0x3F

SOCKET = 3
CAPACITY = 256 << 10
SPIN_MICROS = 50


class MethodError(BaseException):
    """A method failed. Like `SystemExit` it passes through `except Exception`: catch it by name."""

    __module__ = "builtins"


class RunEnded(BaseException):
    """The host has what it needs; the code is not continued."""

    __module__ = "builtins"


# One call at a time: the host answers in order, and the sequence has no gaps.
_lock = threading.RLock()
_sequence = 0
_ended = False
_spin = SPIN_MICROS
_socket = SOCKET
_buffer = ctypes.create_string_buffer(CAPACITY)
_view = memoryview(_buffer).cast("B")
_address = ctypes.addressof(_buffer)
_exchange: Any = None
_header = struct.Struct("<IB")

threaded = False
raised = []


def use(library):
    """The native wait of `library`, called without the GIL."""
    global _exchange
    _exchange = library.callgate_call
    _exchange.argtypes = (
        ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64,
    )
    _exchange.restype = ctypes.c_ssize_t


def rehearse(spec):
    """One start and one call over a socket of our own; returns the spec as received."""
    global _socket, _sequence
    ours, theirs = socket.socketpair()
    _socket = ours.fileno()
    theirs.sendall(wire.frame(INIT | PLAIN, wire.dumps(spec)))
    received = receive()[1]
    theirs.sendall(wire.frame(VALUE | PLAIN, wire.dumps(3)))
    call("method_0", (1, "x"), {})
    ours.close()
    theirs.close()
    _socket, _sequence = SOCKET, 0
    return received


def awaited():
    """Is the lease here already? A run waits for this child, and there is no time to rehearse."""
    return bool(select.select((SOCKET,), (), (), 0)[0])


def receive(request=b""):
    """Sends `request`, if any, and returns the kind and value of the frame that answers."""
    global _spin
    received = _exchange(
        _socket, request, len(request), _address, CAPACITY, _spin if request else 0
    )
    if received <= 0:
        os._exit(0)
    data = _view[:received]
    length, kind = _header.unpack_from(data)
    if received < 4 + length:
        data = _rest(data, 4 + length)
    _spin = 0 if kind & BUSY else SPIN_MICROS
    value = wire.loads(data[5 : 4 + length], bool(kind & PLAIN), allow_opaque=True)
    return kind & KIND, value


def _rest(begun, length):
    """A frame that is longer than our buffer, of which `begun` has arrived."""
    whole = memoryview(bytearray(length))
    whole[: len(begun)] = begun
    left = whole[len(begun) :]
    while left:
        received = os.readv(_socket, (left,))
        if not received:
            os._exit(0)
        left = left[received:]
    return whole


def call(name, arguments, options):
    global _sequence, _ended
    with _lock:
        if _ended:
            raise RunEnded
        fields = (_sequence + 1, name, arguments, options, clock.take(), threaded or clock.overflowed)
        try:
            request = wire.frame(CALL, wire.dumps(fields))
        except wire.CannotPass as error:
            raise TypeError(_why_not(name, arguments, options, error)) from None
        _sequence += 1
        kind, value = receive(request)
        if kind == VALUE:
            return value
        if kind == END:
            _ended = True
            raise RunEnded
        error = MethodError(value)
        raised.append(error)
    raise error


def _why_not(name, arguments, options, error):
    named = [(str(place + 1), value) for place, value in enumerate(arguments)]
    for label, value in [*named, *options.items()]:
        try:
            wire.dumps(value, f"argument {label}")
        except wire.CannotPass as reason:
            return f"{name}(): {reason}"
    return f"{name}(): {error}"


class Annotation(str):
    """An annotation as its text: what it names need not exist here."""

    __repr__ = str.__str__


def _unquoted(signature):
    parameters = [
        p if p.annotation is p.empty else p.replace(annotation=Annotation(p.annotation))
        for p in signature.parameters.values()
    ]
    returns = signature.return_annotation
    if returns is not signature.empty:
        returns = Annotation(returns)
    return inspect.Signature(parameters, return_annotation=returns)


class Signature(inspect.Signature):
    """Read from its text when somebody asks: a run rarely does, and compiling all is slow."""

    __slots__ = ("_text", "_real")

    def __init__(self, text):
        self._text, self._real = text, None

    def _read(self):
        if self._real is None:
            scope = {}
            exec(f"from __future__ import annotations\ndef stub{self._text}: ...", scope)
            self._real = _unquoted(inspect.Signature.from_callable(scope["stub"]))
        return self._real

    parameters = property(lambda self: self._read().parameters)
    return_annotation = property(lambda self: self._read().return_annotation)


def stub(name, signature, doc):
    def method(*arguments, **options):
        return call(name, arguments, options)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = doc
    method.__module__ = "__main__"
    method.__signature__ = Signature(signature)
    return method


def call_by_full_name(name, *arguments, **options):
    """Call a method by its full name, `origin/name`."""
    return call(name, arguments, options)


def finish(**outcome):
    """The last frame of a run."""
    outcome.update(clocks=clock.take(), threaded=threaded or clock.overflowed)
    data = wire.frame(DONE, wire.dumps(outcome))
    while data:
        data = data[os.write(SOCKET, data) :]


def note_threads():
    """Remembers that a thread was started: the order of calls is then nobody's to repeat."""
    start = threading.Thread.start

    def noted(self):
        global threaded
        threaded = True
        return start(self)

    threading.Thread.start = noted
