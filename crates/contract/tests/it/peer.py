"""The Python side of python.rs: answers frames on stdin with frames on stdout."""

import array  # noqa: F401  (this and others: for the expressions of the tests)
import collections
import dataclasses
import datetime  # noqa: F401
import decimal
import enum
import marshal
import pathlib
import pickle
import socket  # noqa: F401
import struct
import sys
import uuid  # noqa: F401
from collections import Counter, OrderedDict  # noqa: F401
from zoneinfo import ZoneInfo  # noqa: F401

import numpy  # noqa: F401
from callgate_guest import outward, wire

ANSWER, FAILED = 8, 9

Named = collections.namedtuple("Named", "a b")


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Text(str):
    def __str__(self):
        return "not the text"


class Number(int):
    def __int__(self):
        return 0


class Real(float):
    pass


class Raw(bytes):
    pass


class deque_like(list):
    pass


@dataclasses.dataclass
class Point:
    x: object
    y: object


class Ready(bytes):
    """A body that is sent as it is."""


def raw(value, version=2):
    return Ready(marshal.dumps(value, version))


def raw_pickle(value):
    return Ready(pickle.dumps(value))


def nested(depth, leaf):
    for _ in range(depth):
        leaf = [leaf]
    return leaf


def holds_itself_twice():
    items = []
    items += [items, items]
    return items


def small_capitals(make):
    decimal.getcontext().capitals = 0
    return make()


def describe(value):
    """Types of a value and of all within, in the words of Rust's `type_name`."""
    name = "Path" if isinstance(value, pathlib.PurePath) else type(value).__name__
    if isinstance(value, dict):
        inner = [f"{describe(key)}:{describe(item)}" for key, item in value.items()]
    elif isinstance(value, (set, frozenset)):
        inner = sorted(describe(item) for item in value)
    elif isinstance(value, (list, tuple)):
        inner = [describe(item) for item in value]
    else:
        return name
    return f"{name}({','.join(inner)})"


def answers(kind, body):
    value = wire.loads(body, bool(kind & wire.PLAIN), allow_opaque=True)
    match kind & ~wire.PLAIN:
        case 1:
            return [wire.dumps(describe(value)), wire.dumps(value)]
        case 2:
            result = eval(value, globals())
            return [bytes(result) if type(result) is Ready else wire.dumps(result)]
        case 3:
            return [outward.dumps(eval(value, globals()))]
        case 4:
            return [wire.dumps(repr(value))]


def main():
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    while header := stdin.read(5):
        length, kind = struct.unpack("<IB", header)
        try:
            frames = [wire.frame(ANSWER, body) for body in answers(kind, stdin.read(length - 1))]
        except wire.CannotPass as error:
            frames = [wire.frame(FAILED, wire.dumps(str(error)))]
        stdout.write(b"".join(frames))
        stdout.flush()


main()
