"""Runs a command at a terminal of its own. Standard input holds the steps as JSON: what to wait for,
and what to type then. Prints all that was seen; fails where something never came."""

import json
import os
import pty
import select
import sys
import time

PATIENCE = 60

steps = json.load(sys.stdin)
child, terminal = pty.fork()
if child == 0:
    os.environ["TERM"] = "dumb"
    os.execv(sys.argv[1], sys.argv[1:])

seen, read = "", 0


def more(until):
    """Reads what has come; false at the end."""
    global seen
    if not select.select([terminal], [], [], max(0, until - time.monotonic()))[0]:
        sys.exit(f"it never came; what was seen: {seen!r}")
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        return False
    seen += piece.decode(errors="replace")
    return bool(piece)


for wanted, typed in steps:
    until = time.monotonic() + PATIENCE
    while wanted not in seen[read:]:
        if not more(until):
            sys.exit(f"it ended before {wanted!r}; what was seen: {seen!r}")
    read = seen.index(wanted, read) + len(wanted)
    if typed:
        # Typed when it is asked for: a terminal that is being set up drops what came before.
        time.sleep(0.3)
        os.write(terminal, typed.encode())
while more(time.monotonic() + PATIENCE):
    pass
_, status = os.waitpid(child, 0)
print(seen)
sys.exit(os.waitstatus_to_exitcode(status))
