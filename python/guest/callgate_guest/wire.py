"""Values as bytes, the Python half of the codec in crates/contract/src/codec.rs.

Owns what may cross and under which type. Plain data goes through marshal (version 2) at the speed
of C; the rest is converted here or refused with its type and place. Standard library only.
"""

import datetime
import decimal
import enum
import marshal
import pathlib
import pickle
import re
import struct
import sys
import uuid
import zoneinfo
from typing import Any

MAX_DEPTH = 100
MAX_VALUES = 1 << 20
MAX_FRAME = 8 << 20
PLAIN = 0x80
"""Set in the kind of a frame from the host whose body holds no extension tuples."""

_HEADER = struct.Struct("<IB")


class CannotPass(TypeError):
    """A value holds something that cannot cross. The text names the type and the place."""


def frame(kind, body):
    """A whole frame around a body made by `dumps`."""
    length = len(body) + 1
    if length > MAX_FRAME:
        raise CannotPass(f"{length} bytes; the limit is {MAX_FRAME}")
    return _HEADER.pack(length, kind) + body


def dumps(value, root="result", head=None):
    """Encode a value on its way to the host, where only data may go. With `head`, a tuple of plain
    values, the value is the last item of a tuple that starts with them.
    """
    body = dumps_plain(value, head)
    return body if body is not None else dumps_with(Outgoing(), value, root, head)


def dumps_plain(value, head=None):
    """The encoding of a value that marshal writes as it is, or None."""
    if not _is_plain(value, MAX_DEPTH if head is None else MAX_DEPTH - 1):
        return None
    body = marshal.dumps(value if head is None else (*head, value), 2)
    # A lone surrogate is one of these pairs of bytes; other data may look the same.
    return body if b"\xed" not in body or not _SURROGATE.search(body) else None


def dumps_with(outgoing, value, root, head):
    if head is None:
        return marshal.dumps(outgoing.convert(value, root), 2)
    return marshal.dumps((*head, outgoing.convert(value, root, MAX_DEPTH - 1)), 2)


def loads(body, plain, allow_opaque=False) -> Any:
    """Decode a body. `plain` promises that it holds no extension tuples.

    `allow_opaque` unpickles opaque objects: for the sandbox only, which has nothing to lose.
    """
    value = _marshal_loads(body)
    return value if plain else _Incoming(allow_opaque).revive(value)


if sys.version_info >= (3, 13):

    def _marshal_loads(body):
        return marshal.loads(body, allow_code=False)

else:
    _marshal_loads = marshal.loads


_SURROGATE = re.compile(b"\xed[\xa0-\xbf]")
_SCALARS = frozenset({type(None), bool, int, float, str, bytes})
_CONTAINERS = frozenset({list, tuple, set, frozenset, dict})


def _is_plain(value, depth):
    """Does marshal write this value rightly?

    Marshal cannot be asked: it takes any buffer for bytes (a numpy float among them), writes code
    objects, and never comes back from a list that holds itself twice. So the types are looked at
    first, level by level of nesting.
    """
    if type(value) in _SCALARS:
        return True
    level = (value,)
    left = MAX_VALUES - 1
    for _ in range(depth):
        below = []
        for item in level:
            kind = type(item)
            if kind in _SCALARS:
                continue
            if kind is dict:
                below += item
                below += item.values()
            elif kind in _CONTAINERS:
                below += item
            else:
                return False
            if len(below) > left:
                return False
        if _SCALARS.issuperset(map(type, below)):
            return True
        left -= len(below)
        level = below
    return False


class Outgoing:
    """Turns a value into what marshal writes, or says where that fails."""

    def __init__(self):
        self.left = MAX_VALUES

    def convert(self, value, place, depth=MAX_DEPTH):
        self.left -= 1
        if self.left < 0:
            raise CannotPass(f"more than {MAX_VALUES} values")
        kind = type(value)
        if kind is str:
            return _checked_text(value, place)
        if kind in _SCALARS:
            return value
        if kind in _CONTAINERS:
            return self.container(kind, value, place, depth)
        return self.other(value, place, depth)

    def other(self, value, place, depth):
        if isinstance(value, enum.Enum):
            return self.convert(value.value, place, depth)
        if (extension := _extension(value)) is not None:
            return extension
        if isinstance(value, (bytearray, memoryview)):
            return bytes(value)
        if _is_numpy_scalar(value):
            number = value.item()
            if type(number) is not type(value):
                return self.convert(number, place, depth)
        return self.instance(value, place, depth)

    def instance(self, value, place, depth):
        """An instance of a subclass passes as the built-in it extends."""
        if isinstance(value, str):
            return _checked_text(str.__str__(value), place)
        if isinstance(value, int):
            return int.__int__(value)
        if isinstance(value, float):
            return float.__float__(value)
        if isinstance(value, bytes):
            return bytes(memoryview(value))
        for base in _CONTAINERS:
            if isinstance(value, base):
                return self.container(base, value, place, depth)
        raise _cannot_pass(value, place)

    def container(self, base, value, place, depth):
        depth = open_container(place, depth)
        try:
            if base is dict:
                return dict(self.entries(value, place, depth))
            return base(
                [
                    self.convert(item, f"{place}[{index}]", depth)
                    for index, item in enumerate(value)
                ]
            )
        except CannotPass:
            raise
        except TypeError as error:
            raise CannotPass(f"{place}: {error}") from None

    def entries(self, value, place, depth):
        for index, (key, item) in enumerate(value.items()):
            yield (
                self.convert(key, f"{place}.keys()[{index}]", depth),
                self.convert(item, place + _key_step(key), depth),
            )


class _Incoming:
    """Turns what marshal read back into what was sent."""

    def __init__(self, allow_opaque):
        self.allow_opaque = allow_opaque

    def revive(self, value):
        kind = type(value)
        if kind in _SCALARS:
            return value
        if kind is dict:
            return {self.revive(key): self.revive(item) for key, item in value.items()}
        if _SCALARS.issuperset(map(type, value)):
            return value
        if kind is tuple and value[0] is ...:
            return self.extension(value[1], value[2])
        return kind([self.revive(item) for item in value])

    def extension(self, tag, payload):
        if tag == "record":
            name, fields = payload
            return Record(name, {field: self.revive(item) for field, item in fields})
        if tag == "opaque":
            return self.open(*payload)
        return _REVIVERS[tag](payload)

    def open(self, name, pickled):
        if not self.allow_opaque:
            raise ValueError(f"cannot open a '{name}' here")
        try:
            return pickle.loads(pickled)
        except Exception as error:  # Any class may raise anything from its own __setstate__.
            raise ValueError(f"cannot open a '{name}' here: {error}") from error


class Record:
    """An object of a plugin as the sandbox sees it: fields to read, `r.x` or `r["x"]`.

    It unpacks and indexes like the namedtuple it may have been, and `dict(r)` works.
    """

    __slots__ = ("__record_class__", "__record_fields__")

    def __init__(self, name, fields):
        object.__setattr__(self, "__record_class__", name)
        object.__setattr__(self, "__record_fields__", fields)

    def __getattr__(self, name):
        try:
            return self.__record_fields__[name]
        except KeyError:
            pass
        text = f"'{self.__record_class__}' has no field '{name}'; it has {', '.join(self.keys())}"
        raise AttributeError(text, name=name, obj=self)

    def __getitem__(self, name):
        if isinstance(name, (int, slice)):
            return tuple(self)[name]
        return self.__record_fields__[name]

    def __setattr__(self, name, value=None):
        raise AttributeError(f"cannot set '{name}': '{self.__record_class__}' is read-only here")

    __delattr__ = __setitem__ = __delitem__ = __setattr__

    def keys(self):
        return self.__record_fields__.keys()

    def __iter__(self):
        return iter(self.__record_fields__.values())

    def __len__(self):
        return len(self.__record_fields__)

    def __dir__(self):
        return [*super().__dir__(), *self.keys()]

    def __eq__(self, other):
        if type(other) is not Record:
            return NotImplemented
        return (self.__record_class__, self.__record_fields__) == (
            other.__record_class__,
            other.__record_fields__,
        )

    def __hash__(self):
        return hash((self.__record_class__, tuple(self.__record_fields__.items())))

    def __reduce__(self):
        return Record, (self.__record_class__, self.__record_fields__)

    def __repr__(self):
        fields = ", ".join(f"{name}={item!r}" for name, item in self.__record_fields__.items())
        return f"{self.__record_class__}({fields})"


def _extension(value):
    """The extension tuple of a type that marshal lacks, or None."""
    if isinstance(value, datetime.datetime):
        # Not equal to itself: pandas.NaT, which only looks like a datetime.
        return (..., "datetime", _datetime_text(value)) if value == value else None
    if isinstance(value, datetime.date):
        return (..., "date", datetime.date.isoformat(value))
    if isinstance(value, datetime.time):
        return (..., "time", datetime.time.isoformat(value) + _zone_suffix(value))
    if isinstance(value, datetime.timedelta):
        return (..., "timedelta", (value.days, value.seconds, value.microseconds))
    if isinstance(value, pathlib.PurePath):
        return (..., "path", str(value))
    if isinstance(value, decimal.Decimal):
        return (..., "decimal", _DECIMAL_TEXT.to_sci_string(value))
    if isinstance(value, uuid.UUID):
        return (..., "uuid", value.bytes)
    return None


_DECIMAL_TEXT = decimal.Context(capitals=1)
_ZONE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+-]*(/[A-Za-z0-9][A-Za-z0-9_+-]*)*")


def _datetime_text(value):
    return datetime.datetime.isoformat(value) + _zone_suffix(value)


def _zone_suffix(value):
    key = getattr(value.tzinfo, "key", None)
    if not isinstance(value.tzinfo, zoneinfo.ZoneInfo) or not key:
        return ""
    return f"[{key}]" if _ZONE.fullmatch(key) else ""


def _revive_datetime(text):
    fixed, zone = _split_zone(datetime.datetime.fromisoformat, text)
    if zone is None:
        return fixed
    for fold in (0, 1):
        zoned = fixed.replace(tzinfo=zone, fold=fold)
        if zoned.utcoffset() == fixed.utcoffset():
            return zoned
    # The sender's zone database disagrees with ours: the moment matters more than the name.
    return fixed


def _revive_time(text):
    naive, zone = _split_zone(datetime.time.fromisoformat, text)
    return naive if zone is None else naive.replace(tzinfo=zone)


def _split_zone(parse, text):
    text, _, key = text.removesuffix("]").partition("[")
    try:
        zone = zoneinfo.ZoneInfo(key) if key else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        zone = None
    return parse(text), zone


_REVIVERS = {
    "datetime": _revive_datetime,
    "date": datetime.date.fromisoformat,
    "time": _revive_time,
    "timedelta": lambda parts: datetime.timedelta(*parts),
    "path": pathlib.Path,
    "decimal": decimal.Decimal,
    "uuid": lambda data: uuid.UUID(bytes=data),
}


def _is_numpy_scalar(value):
    return any(
        base.__module__ == "numpy" and base.__name__ == "generic" for base in type(value).__mro__
    )


def _checked_text(text, place):
    try:
        text.encode()
    except UnicodeEncodeError:
        raise CannotPass(f"{place}: cannot pass this 'str': it holds a lone surrogate") from None
    return text


def open_container(place, depth):
    if depth == 0:
        shown = place if len(place) <= 60 else place[:60] + "..."
        raise CannotPass(
            f"{shown}: nested deeper than {MAX_DEPTH} containers, or it holds itself"
        )
    return depth - 1


def _key_step(key):
    if type(key) is str:
        return f".{key}" if key.isidentifier() and len(key) <= 40 else f'["{key[:40]}"]'
    if key is None or type(key) in (bool, int):
        return f"[{key}]"
    return f"[<{type(key).__name__}>]"


def _cannot_pass(value, place):
    name = value.__record_class__ if type(value) is Record else type(value).__name__
    return CannotPass(f"{place}: cannot pass a '{name}'")
