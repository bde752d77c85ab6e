"""The wall of workers and installers: what they may open (Landlock), which system calls they have
(seccomp), which of root's powers, and how much memory.

Raised by the process itself before it runs anything that is not ours, inherited by all it starts, and then
nobody's to lower. Where the kernel cannot raise it, it is an error: nothing runs without.
"""

import ctypes
import os
import resource
import socket
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# From linux/landlock.h; the numbers of the calls are the same on every architecture.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION = 1
_BENEATH = 1
_NO_NEW_PRIVS = 38
_SET_SECCOMP, _FILTER = 22, 2
_CAPABILITIES_VERSION = 0x20080522
# Root's, over files of other owners (chown, dac_override, fowner, fsetid), and ports below 1024.
_KEPT_CAPABILITIES = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 10

_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_DEVICE_NODES = 1 << 6 | 1 << 11
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_SCOPE_SIGNALS_AND_SOCKETS = 0b11
_BIND_AND_CONNECT = 0b11

READING = _EXECUTE | _READ | _LIST
# Root could make the node of a disk and read all of it.
WRITING = READING | _WRITE | _REMOVE_AND_MAKE & ~_DEVICE_NODES | _REFER | _TRUNCATE | _IOCTL
# Of these, what can be said of a file that is no directory.
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL

SYSTEM = (
    "/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/opt", "/nix", "/snap", "/run/systemd/resolve",
    "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/alternatives",
    "/etc/fonts", "/etc/python3", "/etc/python3.11", "/etc/python3.12", "/etc/ImageMagick-6", "/etc/xdg",
    "/etc/hosts", "/etc/host.conf", "/etc/hostname", "/etc/resolv.conf", "/etc/nsswitch.conf",
    "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/passwd", "/etc/group", "/etc/localtime",
    "/etc/timezone", "/etc/mime.types", "/etc/magic", "/etc/os-release", "/etc/debian_version",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/loadavg", "/proc/uptime",
    "/proc/version", "/proc/filesystems", "/proc/mounts", "/proc/net", "/proc/sys",
    "/sys/devices/system/cpu", "/sys/fs/cgroup",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm")


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


class Unwalled(OSError):
    """The kernel offers too little of a wall; the text says what to enable."""


def limit(memory: int) -> None:
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    # No core files: they would hold what users said.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def raise_around(order: dict[str, Any]) -> None:
    """Shuts this process in, as `order` says: `readable` and `writable` places, the `filters`, and `hidden`,
    a folder that no place leads into unless it is named itself."""
    if len(os.listdir("/proc/self/task")) != 1:
        raise Unwalled("its wall must be raised before there is a second thread")
    hidden = os.path.realpath(order["hidden"])
    interpreter = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path}
    readable = around([*SYSTEM, *interpreter, *order.get("paths", ()), *order["readable"]], hidden)
    if not restrict(readable, around([*DEVICES, *order["writable"]], hidden)):
        raise Unwalled("this kernel has no Landlock; boot Linux 5.13 or newer with lsm=landlock,...")
    _give_up_powers()
    for program in order["filters"]:
        _filter(bytes.fromhex(program))
    _prove(hidden)


def around(places: Iterable[str], hidden: str) -> Iterable[str]:
    """The places, with what lies beside `hidden` instead of one that holds it."""
    for place in places:
        if place and (hidden + "/").startswith(os.path.realpath(place).rstrip("/") + "/"):
            if (real := os.path.realpath(place)) != hidden:
                # Not through links: what they lead to was never named.
                beside = (entry.path for entry in os.scandir(real) if not entry.is_symlink())
                yield from around(beside, hidden)
        else:
            yield place


def _give_up_powers() -> None:
    """Of root's powers those over other systems than files: nothing that a plugin does needs them."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    powers = (ctypes.c_uint32 * 6)()
    _checked(libc.capget(header, powers))
    for index in range(6):
        powers[index] &= _KEPT_CAPABILITIES if index < 3 else 0
    _checked(libc.capset(header, powers))


def _filter(steps: bytes) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(steps) // 8, steps)
    if libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) != 0:
        raise Unwalled("this kernel has no seccomp filters; use one with CONFIG_SECCOMP_FILTER")


def _prove(hidden: str) -> None:
    """What must be refused is: anything else is no wall."""
    for attempt in (lambda: os.listdir(hidden), lambda: socket.socket(socket.AF_UNIX).close()):
        try:
            attempt()
        except PermissionError:
            continue
        raise Unwalled("Landlock or seccomp does not hold here; `callgate doctor` looks at both")


def restrict(readable: Iterable[str], writable: Iterable[str], network: bool = True) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    syscall = libc.syscall
    syscall.restype = ctypes.c_long
    version = syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION)
    if version < 1:
        return False
    handled = _known(version)
    shut = 0 if network or version < 4 else _BIND_AND_CONNECT
    rules = _Ruleset(handled, shut, _SCOPE_SIGNALS_AND_SOCKETS if version >= 6 else 0)
    ruleset = _checked(syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(_size(version)), 0))
    for paths, access in ((readable, READING), (writable, WRITING)):
        for path in paths:
            _allow(syscall, ruleset, path, access & handled)
    _checked(libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)
    return True


def _known(version: int) -> int:
    """The rights that this version of the kernel's interface knows."""
    known = READING | _WRITE | _REMOVE_AND_MAKE
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL)):
        if version >= since:
            known |= right
    return known


def _size(version: int) -> int:
    return 8 if version < 4 else 16 if version < 6 else 24


def _allow(syscall: Any, ruleset: int, path: str, access: int) -> None:
    if not path:
        return
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        # What is not there needs no rule.
        return
    try:
        allowed = access if Path(path).is_dir() else access & _OF_FILES
        rule = _Beneath(allowed, opened)
        _checked(syscall(_ADD, ruleset, _BENEATH, ctypes.byref(rule), 0))
    finally:
        os.close(opened)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"the worker's wall cannot be raised: {os.strerror(number)}")
    return result
