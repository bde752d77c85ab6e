"""The warm interpreter that every run is a copy of. It imports what code usually needs, moves
itself into the jail and then only clones. It never reads an untrusted byte: those are read by its
children, once they are jailed.

Started by the host with these descriptors: the control socket, the native library, and a JSON
document with the guest's modules.
"""

import ctypes
import json
import os
import sys

CONTROL, LIBRARY, DOCUMENT = 3, 4, 5


def load_guest(modules):
    """Guest modules come as text, so that the jail needs no files of ours."""
    package = type(sys)("callgate_guest")
    package.__path__ = []
    sys.modules["callgate_guest"] = package
    for name, source in modules:
        module = type(sys)(f"callgate_guest.{name}")
        sys.modules[module.__name__] = module
        setattr(package, name, module)
        exec(compile(source, f"<callgate>/{name}.py", "exec"), module.__dict__)
    return package


def warm_imports(preload):
    import argparse, ast, asyncio, atexit, base64, bisect, calendar, collections, colorsys  # noqa
    import concurrent.futures, contextlib, copy, csv, dataclasses, datetime, decimal  # noqa
    import difflib, email, enum, fractions, functools, gc, glob, hashlib, heapq, hmac  # noqa
    import html, inspect, io, itertools, json, linecache, locale, logging, math  # noqa
    import numbers, operator, pathlib, pickle, pprint, pydoc, queue, random, re  # noqa
    import secrets, shutil, socket, sqlite3, statistics, string, struct, subprocess  # noqa
    import tempfile, textwrap, threading, time, traceback, types, typing, unicodedata  # noqa
    import urllib.parse, urllib.request, uuid, warnings, weakref, zipfile, zlib, zoneinfo  # noqa

    for name in preload:
        __import__(name)


def main():
    with open(DOCUMENT) as file:
        document = json.load(file)
    # The same library twice: some functions are called with the GIL held, the wait without.
    library = f"/proc/self/fd/{LIBRARY}"
    jail, waiting = ctypes.PyDLL(library), ctypes.CDLL(library)
    jail.callgate_setup(CONTROL)
    os.close(LIBRARY)
    sys.path.extend(document["path"])
    warm_imports(document["preload"])
    guest = load_guest(document["modules"])
    guest.main.warm_up(waiting)

    import gc

    gc.collect()
    gc.freeze()
    if jail.callgate_serve(CONTROL):
        guest.main.child(jail)


main()
