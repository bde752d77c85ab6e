"""One run: wait in the pool, take the lease, execute the code, say how it ended."""

import atexit
import builtins
import linecache
import os
import sys
import threading
import types

import _sitebuiltins

from callgate_guest import calls, chance, clock, denied, judge, wire  # noqa: F401

CODE = judge.CODE
THREAD_STACK = 1 << 20

# Touches what a run touches, so that copied pages are paid for before the lease, not after it.
REHEARSAL = '''
import json, re
class Thing:
    def __init__(self, x): self.x = x
    def many(self, *a, **k): return [i * 2 for i in a]
def work(n, d={}):
    try:
        return {str(i): i for i in range(n)}
    except (KeyError, ValueError) as e:
        raise RuntimeError(f"{e!r}") from e
    finally:
        pass
t = Thing(1)
text = f"{t.many(1, 2)} {work(3)} {json.dumps([1.5, None])} {re.sub('a', 'b', 'aa')}"
total = sum(i * i for i in range(100))
with open("/dev/null", "w") as out: print(text, total, file=out)
'''


def warm_up(library):
    """In the zygote, before it starts to clone."""
    calls.use(library)
    calls.note_threads()
    threading.stack_size(THREAD_STACK)
    builtins.exit = _sitebuiltins.Quitter("exit", "Ctrl-D (i.e. EOF)")
    builtins.quit = _sitebuiltins.Quitter("quit", "Ctrl-D (i.e. EOF)")
    builtins.help = _sitebuiltins._Helper()
    os.environ.clear()
    os.environ.update(HOME="/app", LANG="C.UTF-8", MPLBACKEND="Agg", MPLCONFIGDIR="/tmp/matplotlib")
    rehearse()


def rehearse():
    """A whole run in small, but for its end."""
    stubs = [(f"method_{number}", "(x: int) -> int", "What it does.") for number in range(20)]
    spec = {"code": REHEARSAL, "stubs": stubs, "chat_key": "", "seed": b"\0" * 16, "clocks": []}
    prepare(calls.rehearse(spec))
    namespace = make_namespace(spec)
    namespace["method_0"].__doc__
    exec(load(REHEARSAL), namespace)
    outcome = judge.judge(None, [], REHEARSAL)
    wire.dumps(outcome)


def child(jail):
    jail.callgate_prepare()
    # By line, so that what was printed before a run is stopped is seen.
    sys.stdin = sys.__stdin__ = open(0, closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", 1, closefd=False)
    sys.stderr = sys.__stderr__ = open(2, "w", 1, errors="backslashreplace", closefd=False)
    if not calls.awaited():
        rehearse()
    if not jail.callgate_lease():
        os._exit(0)
    kind, spec = calls.receive()
    if kind != calls.INIT:
        os._exit(0)
    run(spec)


def run(spec):
    source = spec["code"]
    prepare(spec)
    error = execute(source, make_namespace(spec))
    try:
        outcome = judge.judge(error, calls.raised, source)
    except BaseException as failure:
        # The code may have broken anything it can reach, our own modules included.
        outcome = {"stop": "error", "error": f"{type(error).__name__} (and then {failure!r})"}
    try:
        flush()
        calls.finish(**outcome)
    finally:
        os._exit(0)


def prepare(spec):
    chance.begin(spec["seed"])
    clock.begin(spec["clocks"])


def make_namespace(spec):
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    namespace = module.__dict__
    namespace["__builtins__"] = builtins
    for name, signature, doc in spec["stubs"]:
        namespace[name] = calls.stub(name, signature, doc)
    namespace["MethodError"] = calls.MethodError
    namespace["call"] = calls.call_by_full_name
    namespace["_ck"] = spec["chat_key"]
    return namespace


def execute(source, namespace):
    """Runs the code to its very end, threads and exit handlers included; returns its error."""
    error = None
    try:
        exec(load(source), namespace)
    except BaseException as caught:
        error = caught
    try:
        threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue] # private, but all there is
        atexit._run_exitfuncs()
    except BaseException as caught:
        error = error or caught
    return error


def load(source):
    """Compiled, and known to tracebacks."""
    linecache.cache[CODE] = (len(source), None, source.splitlines(True), CODE)
    return compile(source, CODE, "exec")


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
