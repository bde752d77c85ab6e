"""`make chaos`: see docs/durability.md. Fails on any loss, doubling, stuck turn, inverted history or lie."""

import argparse
import asyncio
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from .chaos import run_phase, run_scenarios
from .faults import schedule
from .report import Phase, as_json, broken, missed, table

# For a run of fifteen minutes; a shorter one needs less.
LEAST = {"messages": 2_000, "kills": 100, "database faults": 20}
WHOLE = 15.0
# Engine, instances, and which part of the time.
PHASES = [("sqlite", 1, 0.3), ("postgres", 1, 0.2), ("postgres", 2, 0.25), ("postgres", 3, 0.25)]
# Of the minutes, for starting and settling.
_APART = 0.2
# Of a conversation in which answers must stay quick.
_MESSAGES_A_MINUTE = 20


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--minutes", type=float, default=WHOLE)
    parser.add_argument("--engine", choices=("sqlite", "postgres", "all"), default="all")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--schedule", action="store_true", help="print which faults there will be, and end")
    parser.add_argument("--keep", type=Path, help="keep logs and databases in this folder")
    return parser.parse_args()


def chosen(engine: str, minutes: float) -> list[tuple[str, int, float]]:
    """Phases with their seconds."""
    phases = [phase for phase in PHASES if engine in (phase[0], "all")]
    whole = sum(part for _, _, part in phases)
    return [(name, count, minutes * 60 * (1 - _APART) * part / whole) for name, count, part in phases]


async def run(options: argparse.Namespace, folder: Path) -> list[Phase]:
    binary = os.environ.get("CALLGATE_BIN") or shutil.which("callgate")
    if not binary:
        raise SystemExit("CALLGATE_BIN must name the binary to test")
    binary = str(Path(binary).resolve())
    phases = []
    for engine, instances, seconds in chosen(options.engine, options.minutes):
        print(f"{engine} x {instances}: {seconds:.0f} s", file=sys.stderr, flush=True)
        place = folder / f"{engine}-{instances}"
        place.mkdir()
        phases.append(await run_phase(binary, place, engine, instances, options.seed, seconds))
    for engine in dict.fromkeys(engine for engine, _, _ in chosen(options.engine, options.minutes)):
        print(f"{engine}: scenarios", file=sys.stderr, flush=True)
        place = folder / f"{engine}-scenarios"
        place.mkdir()
        messages = max(100, int(options.minutes * _MESSAGES_A_MINUTE))
        phases.append(await run_scenarios(binary, place, engine, options.seed, messages))
    return phases


def main() -> int:
    options = arguments()
    # Whatever ends us, what we have started is ended too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.schedule:
        for engine, instances, seconds in chosen(options.engine, options.minutes):
            print(f"{engine} x {instances}")
            print("\n".join(map(str, schedule(options.seed, engine, instances, seconds))))
        return 0
    print(f"seed {options.seed}", file=sys.stderr, flush=True)
    begun = time.time()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="callgate-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    # PostgreSQL runs as another user.
    folder.chmod(0o755)
    phases = asyncio.run(run(options, folder))
    part = min(1.0, options.minutes / WHOLE) if options.engine == "all" else 0
    too_little = missed(phases, {name: int(count * part) for name, count in LEAST.items()})
    wrong = broken(phases)
    print(as_json(options.seed, phases) if options.json else table(phases))
    for line in [*wrong[:50], *too_little]:
        print(line, file=sys.stderr)
    verdict = "clean" if not wrong and not too_little else "BROKEN"
    print(f"{verdict}: seed {options.seed}, {time.time() - begun:.0f} s", file=sys.stderr)
    if not options.keep and verdict == "clean":
        shutil.rmtree(folder)
    elif verdict != "clean":
        print(f"logs and databases are in {folder}", file=sys.stderr)
    return 0 if verdict == "clean" else 1


if __name__ == "__main__":
    sys.exit(main())
