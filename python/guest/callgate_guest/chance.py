"""Randomness of a run, all of it from the run's seed, so that a replay repeats it. The stream is
cryptographic: what the code makes with `secrets` is as good as the seed, which is random.
"""

# Patches what the standard library keeps private.
# pyright: reportAttributeAccessIssue=false
import errno
import functools
import hashlib
import operator
import os
import random
import sys
import uuid

_key = b""
_counter = 0


def begin(seed):
    global _key, _counter
    _key, _counter = seed, 0
    random.seed(urandom(32))
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        numpy.seed(int.from_bytes(urandom(4), "little"))


# What the hash gives at once, and more memory than a run has.
_MOST = 1 << 29


def _index(number):
    number = operator.index(number)
    if not -sys.maxsize - 1 <= number <= sys.maxsize:
        raise OverflowError("Python int too large to convert to C ssize_t")
    return number


def urandom(size, /):
    """Return a bytes object containing random bytes."""
    global _counter
    size = _index(size)
    if size < 0:
        raise ValueError("negative argument not allowed")
    if size >= _MOST:
        raise MemoryError
    _counter += 1
    return hashlib.shake_256(_key + _counter.to_bytes(8, "little")).digest(size)


def getrandom(size, flags=0):
    """Obtain a series of random bytes."""
    size, flags = _index(size), _index(flags)
    if size < 0 or flags & ~(os.GRND_NONBLOCK | os.GRND_RANDOM):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return urandom(size)


_seed = random.Random.seed


@functools.wraps(_seed)
def _seed_from_stream(self, a=None, version=2):
    # The C generator would ask the kernel.
    _seed(self, urandom(32) if a is None else a, version)


os.urandom = random._urandom = urandom
os.getrandom = getrandom
random.Random.seed = _seed_from_stream
random.seed = random._inst.seed
# Without these uuid1 is made from its own clock and node in Python.
uuid._generate_time_safe = uuid._UuidCreate = None
uuid._node = 0x0242_AC11_0002
