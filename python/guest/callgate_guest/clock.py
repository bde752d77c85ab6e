"""Clocks of a run. Every reading the code takes is noted, so that a replay of the run can be given
the same ones. Patched where Python code looks: the waiting done by the interpreter's own modules
keeps the real clocks.
"""

import asyncio
import collections
import ctypes
import datetime
import gc
import time

# A loop that polls a clock would fill the record; such a run is not replayed.
LIMIT = 10_000

_time_ns, _monotonic_ns, _perf_counter_ns = time.time_ns, time.monotonic_ns, time.perf_counter_ns
_monotonic = time.monotonic
_localtime, _gmtime, _strftime = time.localtime, time.gmtime, time.strftime
_ctime, _asctime = time.ctime, time.asctime
# Code may put others in their places, as libraries do that stop the time for tests.
_datetime, _utc = datetime.datetime, datetime.timezone.utc
# As it is written in C: whatever a subclass puts in its place is no business of `now`.
_fromtimestamp = _datetime.__dict__["fromtimestamp"]

_noted = []
_recorded = collections.deque()
_count = 0
overflowed = False


def begin(recorded):
    """From here on readings belong to the code. `recorded` are those of the run being replayed."""
    global _count
    _recorded.extend(recorded)
    _noted.clear()
    _count = 0


def take():
    """The readings since the last time this was asked."""
    noted = _noted[:]
    del _noted[: len(noted)]
    return noted


def _reading(clock):
    def read():
        global _count, overflowed
        try:
            now = _recorded.popleft()
        except IndexError:
            now = clock()
        if _count < LIMIT:
            _count += 1
            _noted.append(now)
        else:
            overflowed = True
        return now

    return read


_wall, _steady, _counter = map(_reading, (_time_ns, _monotonic_ns, _perf_counter_ns))


def _replacement(original):
    """Looks like what it replaces."""

    def dress(function):
        function.__name__ = original.__name__
        function.__qualname__ = getattr(original, "__qualname__", original.__name__)
        function.__doc__ = original.__doc__
        return function

    return dress


def _seconds_of(reading):
    return lambda: reading() / 1e9


def _patch_time():
    for name, function in {
        "time": _seconds_of(_wall),
        "time_ns": lambda: _wall(),
        "monotonic": _seconds_of(_steady),
        "monotonic_ns": lambda: _steady(),
        "perf_counter": _seconds_of(_counter),
        "perf_counter_ns": lambda: _counter(),
        "localtime": lambda seconds=None: _localtime(_now() if seconds is None else seconds),
        "gmtime": lambda seconds=None: _gmtime(_now() if seconds is None else seconds),
        "ctime": lambda seconds=None: _ctime(_now() if seconds is None else seconds),
        "strftime": lambda format, t=None: _strftime(format, _localtime(_now()) if t is None else t),
        "asctime": lambda t=None: _asctime(_localtime(_now()) if t is None else t),
    }.items():
        setattr(time, name, _replacement(getattr(time, name))(function))


def _now():
    return _wall() / 1e9


def _datetime_now(cls, tz=None):
    # A subclass is called, so that its own `__new__` makes what it is to be. Whole microseconds
    # survive being a float of seconds; nanoseconds would be rounded up.
    return _fromtimestamp.__get__(None, cls)(_wall() // 1_000 / 1_000_000, tz)


def _datetime_utcnow(cls):
    now = _datetime_now(_datetime, _utc).replace(tzinfo=None)
    if cls is _datetime:
        return now
    time_of_day = now.hour, now.minute, now.second, now.microsecond
    return cls(now.year, now.month, now.day, *time_of_day, None)


def _date_today(cls):
    # Of a datetime too, which has this from date.
    return cls.fromtimestamp(_now())


def _patch_datetime():
    # The types are written in C; replacing them by subclasses would change isinstance and repr, so
    # their dictionaries are changed instead.
    for cls, methods in (
        (datetime.datetime, {"now": _datetime_now, "utcnow": _datetime_utcnow}),
        (datetime.date, {"today": _date_today}),
    ):
        dictionary = gc.get_referents(cls.__dict__)[0]
        for name, function in methods.items():
            dictionary[name] = classmethod(_replacement(getattr(cls, name))(function))
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(cls))


_patch_time()
_patch_datetime()
# How long a loop slept is no business of the record.
asyncio.BaseEventLoop.time = lambda self: _monotonic()
