"""Tries whatever a plugin must not be able to do, against bait that it is told of, and says what came of each.

Run by the tests, behind the wall, as root and as an ordinary user.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from callgate import method
from callgate_worker import host

LIBC = ctypes.CDLL(None, use_errno=True)
# Of system calls; the first is x86-64's.
OPEN_BY_HANDLE, OPEN_TREE, FSOPEN, PIDFD_OPEN = 304, 428, 430, 434
PTRACE_ATTACH = 16
OWN = {"pipe", "socket", "anon_inode", "/dev/null", "/dev/urandom"}


class Attempts:
    """What was refused, by its kind of error, and what was gained."""

    def __init__(self) -> None:
        self.refused: dict[str, str] = {}
        self.gained: dict[str, str] = {}

    def __call__(self, name: str, attempt: Callable[..., Any], *arguments: Any) -> None:
        try:
            self.gained[name] = repr(attempt(*arguments))[:200]
        except (OSError, subprocess.SubprocessError) as error:
            self.refused[name] = type(error).__name__


def called(function: Callable[..., int], *arguments: Any) -> int:
    """A function of C, which tells of its failure by a number below zero."""
    if (result := function(*arguments)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def first_byte(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(1)


def spoken_to(address: str | bytes, kind: int = socket.SOCK_STREAM) -> bytes:
    with socket.socket(socket.AF_UNIX, kind) as it:
        it.settimeout(5)
        it.connect(address)
        it.sendall(b'{"NewKey": {}}\n')
        return it.recv(4096)


def in_a_child(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    if done.returncode != 0:
        raise PermissionError(done.stderr.strip().splitlines()[-1])
    return done.stdout


@method
def sockets(paths: list[str], abstract: str) -> dict:
    """Every socket of the machine, by every kind and way of making one."""
    attempt = Attempts()
    for path in paths:
        attempt(f"stream {path}", spoken_to, path)
        attempt(f"datagram {path}", spoken_to, path, socket.SOCK_DGRAM)
        code = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
        attempt(f"child {path}", in_a_child, code, path)
        attempt(f"file {path}", os.stat, path)
    attempt("abstract", spoken_to, b"\0" + abstract.encode())
    attempt("datagram pair", socket.socketpair, socket.AF_UNIX, socket.SOCK_DGRAM)
    attempt("packets", socket.socket, socket.AF_PACKET, socket.SOCK_RAW)
    attempt("virtual machine", socket.socket, socket.AF_VSOCK)
    return {"refused": attempt.refused, "gained": attempt.gained}


@method
def files(secrets: list[str], places: list[str], own: str) -> dict:
    """Files of others: read, through links, and written."""
    attempt = Attempts()
    for number, path in enumerate(secrets):
        attempt(f"read {path}", Path(path).read_bytes)
        link = Path(own, f"link{number}")
        link.symlink_to(path)
        attempt(f"link to {path}", link.read_bytes)
        attempt(f"hard link to {path}", os.link, path, Path(own, f"hard{number}"))
        attempt(f"through the first process {path}", Path("/proc/1/root" + path).read_bytes)
        attempt(f"child {path}", in_a_child, "import sys; print(open(sys.argv[1]).read())", path)
    for place in places:
        attempt(f"write {place}", Path(place).write_text, "x")
    for device in ("/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/fuse"):
        attempt(device, os.open, device, os.O_RDONLY)
    attempt("disk", os.mknod, Path(own, "disk"), 0o60600, os.makedev(8, 0))
    # Written as it is, in case that it can be.
    pattern = Path("/proc/sys/kernel/core_pattern")
    attempt("settings of the kernel", pattern.write_text, pattern.read_text())
    attempt("system request", Path("/proc/sysrq-trigger").write_text, "h")
    attempt("handle", called, LIBC.syscall, OPEN_BY_HANDLE, -100, None, 0)
    return {"refused": attempt.refused, "gained": attempt.gained}


@method
def processes(pids: list[int]) -> dict:
    """Other processes: looked at, signalled, opened, traced."""
    attempt = Attempts()
    for pid in pids:
        for what in ("environ", "cmdline", "root/etc/hostname", "cwd/data", "mem", "maps"):
            attempt(f"{what} of {pid}", first_byte, f"/proc/{pid}/{what}")
        attempt(f"signal {pid}", os.kill, pid, 0)
        attempt(f"end {pid}", os.kill, pid, signal.SIGTERM)
        attempt(f"end the group of {pid}", os.killpg, pid, signal.SIGTERM)
        attempt(f"trace {pid}", called, LIBC.ptrace, PTRACE_ATTACH, pid, None, None)
        attempt(f"descriptor {pid}", called, LIBC.syscall, PIDFD_OPEN, pid, 0)
        attempt(f"limits {pid}", called, LIBC.prlimit, pid, 7, None, None)
    # The first process in here is ours, and empty.
    for what in ("environ", "root/etc/hostname", "mem"):
        attempt(f"{what} of the first", first_byte, f"/proc/1/{what}")
    seen = [name for name in os.listdir("/proc") if name.isdigit()]
    strangers = [pid for pid in seen if b"callgate" not in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return {"refused": attempt.refused, "gained": attempt.gained, "strangers": strangers}


@method
def namespaces() -> dict:
    """Ways out by mounts and namespaces, also from a user namespace of its own."""
    attempt = Attempts()
    attempt("mount", called, LIBC.mount, b"none", b"/tmp", b"tmpfs", 0, None)
    attempt("unmount", called, LIBC.umount2, b"/tmp", 2)
    attempt("copy of a mount", called, LIBC.syscall, OPEN_TREE, -100, b"/", 1)
    attempt("file system", called, LIBC.syscall, FSOPEN, b"proc", 0)
    attempt("root", os.chroot, "/tmp")
    attempt("pivot", called, LIBC.pivot_root, b".", b".")
    nested = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.unshare(0x10020000) == 0, os.strerror(ctypes.get_errno())
assert libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0, os.strerror(ctypes.get_errno())
"""
    attempt("mount in a user namespace", in_a_child, nested)
    return {"refused": attempt.refused, "gained": attempt.gained}


@method
async def installer(paths: list[str], library: str) -> dict:
    """Code of its own by way of an installer, into the environment, or into our packages."""
    gained, refused = {}, {}
    for path in paths:
        try:
            gained[path] = await host.call("env_install", specs=[path])
        except host.HostError as error:
            refused[path] = error.message
    attempt = Attempts()
    attempt("our packages", Path(library, "callgate_worker", "host.py").write_text, "")
    attempt("beside them", Path(library, "sitecustomize.py").write_text, "")
    attempt("the interpreter's", Path(os.__file__).with_name("sitecustomize.py").write_text, "")
    attempt("its environment", Path(sys.prefix, "sitecustomize.py").write_text, "")
    return {"refused": {**refused, **attempt.refused}, "gained": {**gained, **attempt.gained}}


@method
def inherited() -> dict:
    """What it was born with: variables, and files that are open."""
    def leads_to(descriptor: str) -> str:
        try:
            return os.readlink(f"/proc/self/fd/{descriptor}").split(":")[0]
        except FileNotFoundError:
            return "pipe"
    opened = {leads_to(descriptor) for descriptor in os.listdir("/proc/self/fd")}
    return {"variables": sorted(os.environ), "files": sorted(opened - OWN)}


@method
async def usual(own: str, html: str) -> dict:
    """What plugins need is there."""
    import asyncio
    import multiprocessing
    import ssl
    import tempfile

    said = {}
    one, other = socket.socketpair()
    one.sendall(b"pair")
    said["pair"] = other.recv(9).decode()
    server = await asyncio.start_server(lambda _, it: (it.write(b"network"), it.close()), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    loop = asyncio.get_running_loop()
    (address, *_) = await loop.getaddrinfo("localhost", port, family=socket.AF_INET)
    reader, _ = await asyncio.open_connection(*address[4])
    said["network"] = (await reader.read()).decode()
    said["certificates"] = ssl.create_default_context().cert_store_stats()["x509_ca"] > 0
    said["names"] = Path("/etc/resolv.conf").exists() and Path("/etc/hosts").read_text() != ""
    child = await asyncio.create_subprocess_exec("sh", "-c", "echo child", stdout=subprocess.PIPE)
    said["child"] = (await child.communicate())[0].decode().strip()
    said["lock"] = multiprocessing.Lock().acquire()
    Path(own, "note").write_text("own")
    Path("/tmp/note").write_text("scratch")
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")
    said["processes"] = os.getpid() in {int(pid) for pid in os.listdir("/proc") if pid.isdigit()}
    said["memory"] = "MemTotal" in Path("/proc/meminfo").read_text()
    try:
        said["picture"] = (await host.call("html_render", html=html, options={}))[1:4].decode()
    except host.HostError as error:
        said["picture"] = error.message
    return said
