"""python3 -m onebot COMMAND, with CALLGATE_BIN naming the binary to test:

compare     what the frameworks make of the hour, and what our plugins see of it
reconnect   a second connection of one account that outlives the first
kill        killed at each point of the outbox: what people saw
bench       messages a second from the socket to the answer
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from pathlib import Path

from . import bench
from .callgate import Callgate
from .compare import ask_peers, differences, unexplained
from .hour import hour
from .kill import POINTS, kill_at
from .ours import ask_ours, wrong
from .process import peers
from .reconnect import reconnect


async def compare(binary: str | None, folder: Path, _: argparse.Namespace) -> int:
    """Prints where the two frameworks differ and why; fails where nobody knows why."""
    strange = 0
    entries = hour(int(time.time()) - 3600)
    for message_format in ("array", "string"):
        place = folder / message_format
        place.mkdir()
        noted = await ask_peers(place, entries, message_format)
        found = differences(entries, noted["aiocqhttp"], noted["nonebot"])
        print(f"{message_format}: {len(entries)} events, the frameworks differ in {len(found)}")
        for label, fields in found.items():
            for name, (one, other) in fields.items():
                print(f"  {label}, {name}: {json.dumps(one, ensure_ascii=False)} {json.dumps(other, ensure_ascii=False)}")
        strange += len(unexplained(found))
        if binary:
            ours, client = await ask_ours(binary, place / "callgate", entries, message_format)
            found = wrong(entries, ours, noted["aiocqhttp"], client)
            print(f"{message_format}: our plugins heard of {len(ours)}, and see {len(found)} otherwise")
            for label, complaints in found.items():
                print(f"  {label}: {'; '.join(complaints)}")
            strange += len(found)
    return 1 if strange else 0


async def connect_twice(binary: str | None, folder: Path, _: argparse.Namespace) -> int:
    ours = [Callgate(binary, folder / "callgate")] if binary else []
    for listening in (*ours, *peers(folder)):
        async with listening:
            outcome = await reconnect(listening.url, listening.token)
        answered = "never answers again" if outcome.seconds is None else f"answers after {outcome.seconds:.2f} s"
        print(f"{listening.name}: second connection {outcome.second}; {answered}")
    return 0


async def kill(binary: str | None, folder: Path, _: argparse.Namespace) -> int:
    if not binary:
        raise SystemExit("CALLGATE_BIN must name the binary to test")
    for point in POINTS:
        for history in (True, False):
            seen = await kill_at(binary, folder / f"{point}-{history}", point, history=history)
            print(f"{point}, {'with' if history else 'without'} history: {seen}")
    return 0


async def measure(binary: str | None, folder: Path, options: argparse.Namespace) -> int:
    if not binary:
        raise SystemExit("CALLGATE_BIN must name the binary to measure")
    print(json.dumps(await bench.run(binary, folder, options.rounds, options.messages, options.chats), indent=1))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="onebot", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = {"compare": compare, "reconnect": connect_twice, "kill": kill, "bench": measure}
    parser.add_argument("command", choices=commands)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--messages", type=int, default=400)
    parser.add_argument("--chats", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="callgate-onebot-") as folder:
        return asyncio.run(commands[options.command](os.environ.get("CALLGATE_BIN"), Path(folder), options))


if __name__ == "__main__":
    raise SystemExit(main())
