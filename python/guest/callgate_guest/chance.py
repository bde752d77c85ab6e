"""Randomness of a run, all of it from the run's seed, so that a replay repeats it. The stream is
cryptographic: what the code makes with `secrets` is as good as the seed, which is random.
"""

import hashlib
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


def urandom(size):
    """Return a bytes object containing random bytes."""
    global _counter
    _counter += 1
    return hashlib.shake_256(_key + _counter.to_bytes(8, "little")).digest(size)


def _getrandom(size, flags=0):
    return urandom(size)


_seed = random.Random.seed


def _seed_from_stream(self, a=None, version=2):
    # The C generator would ask the kernel.
    _seed(self, urandom(32) if a is None else a, version)


os.urandom = random._urandom = urandom
os.getrandom = _getrandom
random.Random.seed = _seed_from_stream
random.seed = random._inst.seed
# Without these uuid1 is made from its own clock and node in Python.
uuid._generate_time_safe = uuid._UuidCreate = None
uuid._node = 0x0242_AC11_0002
