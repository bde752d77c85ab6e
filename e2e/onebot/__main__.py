"""python3 -m onebot compare | reconnect: what the frameworks make of the hour and of a second connection."""

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path

from .compare import ask_peers, differences, unexplained
from .hour import hour
from .process import peers
from .reconnect import reconnect


async def compare(folder: Path) -> int:
    """Prints where the two frameworks differ and why; fails where nobody knows why."""
    strange = 0
    entries = hour(int(time.time()) - 3600)
    for message_format in ("array", "string"):
        place = folder / message_format
        place.mkdir()
        noted = await ask_peers(place, entries, message_format)
        found = differences(entries, noted["aiocqhttp"], noted["nonebot"])
        print(f"{message_format}: {len(entries)} events, {len(found)} differ")
        for label, fields in found.items():
            for name, (one, other) in fields.items():
                print(f"  {label}, {name}: {json.dumps(one, ensure_ascii=False)} {json.dumps(other, ensure_ascii=False)}")
        strange += len(unexplained(found))
    return 1 if strange else 0


async def connect_twice(folder: Path) -> int:
    for peer in peers(folder):
        async with peer:
            outcome = await reconnect(peer.url, peer.token)
        print(f"{peer.name}: second connection {outcome.second}; answers after {outcome.seconds} s")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="onebot", description=__doc__)
    parser.add_argument("command", choices=("compare", "reconnect"))
    with tempfile.TemporaryDirectory(prefix="callgate-onebot-") as folder:
        run = {"compare": compare, "reconnect": connect_twice}[parser.parse_args().command]
        return asyncio.run(run(Path(folder)))


if __name__ == "__main__":
    raise SystemExit(main())
