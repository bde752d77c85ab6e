"""What the wall refuses, said in words that help. The wall itself is the kernel's: taking these
texts away changes nothing but the texts.
"""

import errno
import functools
import os
import socket
import subprocess

NETWORK = "no network here; call fetch_page(url) if it is granted"
PROCESSES = "processes are not allowed; use Python itself, or call a granted method"
LINKS = "links are not allowed; copy the file instead"


def _explain(function, text, errors=(OSError,)):
    @functools.wraps(function)
    def explained(*arguments, **options):
        try:
            return function(*arguments, **options)
        except errors as error:
            if isinstance(error, socket.gaierror) or error.errno in (errno.EPERM, errno.ENOSYS):
                raise PermissionError(errno.EPERM, text) from None
            raise

    return explained


def _refuse(name, text):
    def refused(*arguments, **options):
        raise PermissionError(errno.EPERM, text)

    refused.__name__ = refused.__qualname__ = name
    return refused


def _patch():
    socket.socket.__init__ = _explain(socket.socket.__init__, NETWORK)
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo"):
        setattr(socket, name, _explain(getattr(socket, name), NETWORK))
    subprocess.Popen.__init__ = _explain(subprocess.Popen.__init__, PROCESSES)
    for name in ("fork", "forkpty", "posix_spawn", "posix_spawnp", "execv", "execve"):
        setattr(os, name, _explain(getattr(os, name), PROCESSES))
    # libc reports a refused fork as an exit status, which nobody reads.
    for name in ("system", "popen"):
        setattr(os, name, _refuse(name, PROCESSES))
    for name in ("link", "symlink"):
        setattr(os, name, _explain(getattr(os, name), LINKS))


_patch()
