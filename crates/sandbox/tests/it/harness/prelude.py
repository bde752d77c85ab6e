import ctypes
import errno
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def syscall(number, *arguments):
    """The raw call: no wrapper of Python or libc says no before the kernel does."""
    ctypes.set_errno(0)
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = _libc.syscall(ctypes.c_long(number), *words)
    return result, ctypes.get_errno()


def probe(name, *arguments):
    result, error = syscall(NUMBERS[name], *arguments)
    print(name, errno.errorcode.get(error, error) if result == -1 else f"ALLOWED {result}")


def attempt(label, action):
    try:
        result = action()
    except OSError as error:
        print(label, errno.errorcode.get(error.errno, error))
    except Exception as error:
        print(label, type(error).__name__)
    else:
        print(label, "ALLOWED", repr(result)[:100])


def frame(kind, body):
    return (len(body) + 1).to_bytes(4, "little") + bytes([kind]) + body


def send(data):
    while data:
        data = data[os.write(3, data):]


CALL, DONE = 16, 17
