"""Tries to reach this machine's own addresses by every way of sending, and says what came of each.

Run by the tests, behind the wall, as root and as an ordinary user, against bait that they listen with.
"""

import array
import ctypes
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from callgate import method

LIBC = ctypes.CDLL(None, use_errno=True)
FAST_OPEN = 0x20000000
IP_OPTIONS = 4
SCTP = 132
# Every name of this machine, its link, and what clouds tell their machines.
HERE = ["127.0.0.1", "127.1.2.3", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0", "::127.0.0.1", "64:ff9b::7f00:1"]
NEAR = ["169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "fd00:ec2::254", "100.100.100.200", "224.0.0.1", "ff02::1"]
WORD = b"from behind the wall"


class Attempts:
    def __init__(self) -> None:
        self.refused: dict[str, str] = {}
        self.other: dict[str, str] = {}

    def __call__(self, name: str, attempt: Callable[..., Any], *arguments: Any) -> None:
        try:
            self.other[name] = repr(attempt(*arguments))[:200]
        except PermissionError:
            self.refused[name] = "PermissionError"
        except (OSError, subprocess.SubprocessError) as error:
            self.other[name] = repr(error)

    def told(self) -> dict:
        return {"refused": len(self.refused), "other": self.other}


def made(host: str, kind: int, timeout: float | None = 3) -> socket.socket:
    it = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
    it.settimeout(timeout)
    return it


def connected(host: str, port: int, timeout: float | None = 3) -> bytes:
    with made(host, socket.SOCK_STREAM, timeout) as it:
        it.connect((host, port))
        it.sendall(WORD)
        return it.recv(100)


def fast_opened(host: str, port: int) -> int:
    with made(host, socket.SOCK_STREAM) as it:
        return it.sendto(WORD, FAST_OPEN, (host, port))


def sent(host: str, port: int) -> int:
    with made(host, socket.SOCK_DGRAM) as it:
        return it.sendto(WORD, (host, port))


def sent_when_connected(host: str, port: int) -> int:
    with made(host, socket.SOCK_DGRAM) as it:
        it.connect((host, port))
        return it.send(WORD)


def sent_as_message(host: str, port: int) -> int:
    with made(host, socket.SOCK_DGRAM) as it:
        return it.sendmsg([WORD[:5], WORD[5:]], [], 0, (host, port))


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_char_p), ("length", ctypes.c_size_t)]


class Header(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint32),
        ("vectors", ctypes.POINTER(Vector)),
        ("count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_size_t),
        ("sent", ctypes.c_size_t),
    ]


def packed(port: int, family: int = socket.AF_INET) -> ctypes.Array:
    return ctypes.create_string_buffer(struct.pack("=H", family) + struct.pack("!H4s8x", port, socket.inet_aton("127.0.0.1")), 16)


def header(name: ctypes.Array) -> Header:
    vector = Vector(WORD, len(WORD))
    return Header(ctypes.addressof(name), 16, ctypes.pointer(vector), 1, None, 0, 0, 0)


def called(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def sent_many(port: int) -> list[int]:
    name = packed(port)
    headers = (Header * 2)(header(name), header(name))
    with made("127.0.0.1", socket.SOCK_DGRAM) as it:
        count = called(LIBC.sendmmsg(it.fileno(), headers, 2, 0))
        return [count, *(one.sent for one in headers)]


def sent_without_family(port: int) -> int:
    """A family of zero counts as the older protocol's where one sends."""
    name = packed(port, 0)
    with made("127.0.0.1", socket.SOCK_DGRAM) as it:
        return called(LIBC.sendto(it.fileno(), WORD, len(WORD), 0, name, 16))


def by_a_child(code: str, port: int) -> str:
    done = subprocess.run([sys.executable, "-c", code, str(port)], capture_output=True, text=True, timeout=20, check=False)
    if done.returncode != 0:
        raise PermissionError(done.stderr.strip().splitlines()[-1]) if "PermissionError" in done.stderr else OSError(done.stderr)
    return done.stdout


@method
def closed(tcp: int, udp: int) -> dict:
    """Every way of reaching those ports of this machine."""
    attempt = Attempts()
    for host in HERE + NEAR:
        attempt(f"connect {host}", connected, host, tcp)
        attempt(f"fast {host}", fast_opened, host, tcp)
        attempt(f"send {host}", sent, host, udp)
        attempt(f"send connected {host}", sent_when_connected, host, udp)
        attempt(f"message {host}", sent_as_message, host, udp)
    attempt("blocking", connected, "127.0.0.1", tcp, None)
    attempt("many", sent_many, udp)
    attempt("no family", sent_without_family, udp)
    attempt("child", by_a_child, "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))", tcp)
    attempt("detour", made("127.0.0.1", socket.SOCK_STREAM).setsockopt, 0, IP_OPTIONS, b"\x83\x07\x04\x7f\x00\x00\x01\x00")
    attempt("another protocol", socket.socket, socket.AF_INET, socket.SOCK_STREAM, SCTP)
    attempt("a third kind", socket.socket, socket.AF_INET, socket.SOCK_SEQPACKET)
    return attempt.told()


@method
def raced(opened: int, tcp: int, udp: int, rounds: int) -> int:
    """Changes the address, and the socket itself, while the call looks at it. How often it came to anything."""
    name, over = packed(opened), threading.Event()
    ports = [struct.pack("!H", port) for port in (opened, udp, tcp)]

    def flip() -> None:
        while not over.is_set():
            for port in ports:
                name[2:4] = port

    flipping = threading.Thread(target=flip)
    flipping.start()
    answered = 0
    message = header(name)
    with made("127.0.0.1", socket.SOCK_DGRAM, 0) as datagrams:
        for _ in range(rounds):
            with made("127.0.0.1", socket.SOCK_STREAM, 0) as it:
                answered += LIBC.connect(it.fileno(), name, 16) == 0 or ctypes.get_errno() == 115
            answered += LIBC.sendto(datagrams.fileno(), WORD, len(WORD), 0, name, 16) > 0
            answered += LIBC.sendmsg(datagrams.fileno(), ctypes.byref(message), 0) > 0
    over.set()
    flipping.join()
    return answered


@method
def opened(tcp: int, udp: int) -> dict:
    """What the operator has opened."""
    return {"tcp": connected("127.0.0.1", tcp).decode(), "udp": sent("127.0.0.1", udp), "many": sent_many(udp), "waiting": connected("127.0.0.1", tcp, None).decode()}


@method
async def own() -> dict:
    """Servers of its own, in this process and in a child, and what else goes through the same calls."""
    import asyncio

    said = {}
    server = await asyncio.start_server(lambda _, it: (it.write(b"own"), it.close()), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    reader, _ = await asyncio.open_connection("localhost", port)
    said["own"] = (await reader.read()).decode()
    code = "import socket; it = socket.create_server(('', 0)); print(it.getsockname()[1], flush=True); it.accept()[0].sendall(b'child')"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout
    said["child"] = (await asyncio.to_thread(connected_quietly, int(child.stdout.readline()))).decode()
    child.wait()
    # Descriptors by a pair, and more bytes at once than a socket takes.
    one, other = socket.socketpair()
    reading, writing = os.pipe()
    socket.send_fds(one, [b"here"], [writing])
    _, [passed], _, _ = socket.recv_fds(other, 9, 1)
    os.write(passed, b"passed")
    said["passed"] = os.read(reading, 9).decode()
    large = [array.array("B", bytes(3 << 20)), b"end"]
    sending = asyncio.to_thread(one.sendmsg, large)
    said["large"] = list(await asyncio.gather(sending, asyncio.to_thread(received, other, (3 << 20) + 3)))
    said["interfaces"] = bool(socket.if_nameindex()) and len(await asyncio.get_running_loop().getaddrinfo("localhost", 80)) > 0
    return said


def received(it: socket.socket, length: int) -> int:
    got = 0
    while got < length:
        got += len(it.recv(1 << 16))
    return got


def connected_quietly(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port)) as it:
        return it.recv(100)
