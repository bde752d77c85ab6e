"""What goes wrong and when: a schedule that follows from the seed alone, and how each fault is done."""

import asyncio
import random
import sqlite3
import time
from dataclasses import dataclass, field

from .instance import Instance
from .stage import DATABASE, TERM, Shared, Stage

KILLS = ("kill", "kill, away for long")
OF_PROCESSES = (*KILLS, "terminate", "freeze")
# Of the database, by engine.
DATABASE_FAULTS = {
    "sqlite": ("disk full", "database locked"),
    "postgres": ("server restarted", "backends ended", "line dropped", "line silent"),
}


@dataclass(frozen=True)
class Fault:
    at: float
    kind: str
    instance: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.at:7.1f} s  {self.kind}, instance {self.instance}, {self.seconds:.1f} s"


def schedule(seed: int, engine: str, instances: int, seconds: float) -> list[Fault]:
    """A kill about every four seconds, something with the database about every twelve."""
    chance = random.Random(f"{seed}/{engine}/{instances}")
    faults = [*_of_processes(chance, engine, instances, seconds), *_database_faults(chance, engine, instances, seconds)]
    return sorted(faults, key=lambda fault: fault.at)


def _of_processes(chance: random.Random, engine: str, instances: int, seconds: float) -> list[Fault]:
    found, at = [], 2.0
    while at < seconds:
        weights = (12, 1 if instances > 1 else 0, 3, 1)
        kind = chance.choices(OF_PROCESSES, weights)[0]
        lasting = {
            "kill": chance.uniform(0.0, 0.6),
            "kill, away for long": TERM + chance.uniform(1, 3),
            "terminate": 0.0,
            "freeze": (TERM if engine == "postgres" else 0) + chance.uniform(1, 3),
        }[kind]
        found.append(Fault(at, kind, chance.randrange(instances), lasting))
        at += chance.uniform(1.5, 5.5)
    return found


def _database_faults(chance: random.Random, engine: str, instances: int, seconds: float) -> list[Fault]:
    found, at = [], 5.0
    while at < seconds:
        kind = chance.choice(DATABASE_FAULTS[engine])
        lasting = {"line silent": chance.uniform(2, 12), "disk full": chance.uniform(1, 7)}
        found.append(Fault(at, kind, chance.randrange(instances), lasting.get(kind, chance.uniform(0.5, 3))))
        at += chance.uniform(6, 16)
    return found


@dataclass
class Outage:
    """When the store could not be written; still going on where there is no end."""

    kind: str
    begun: float
    ended: float | None = None


@dataclass
class Faults:
    """Does them, and remembers what was done."""

    stage: Stage
    done: list[tuple[float, str]] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)
    # When something began to be wrong, or was right again.
    moments: list[float] = field(default_factory=list)
    # The server has one fault at a time.
    server: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, faults: list[Fault]) -> None:
        begun, going = time.time(), []
        for fault in faults:
            await asyncio.sleep(max(0.0, begun + fault.at - time.time()))
            going.append(asyncio.create_task(self._do(fault)))
        await asyncio.gather(*going)

    def count(self, kinds: tuple[str, ...]) -> int:
        return sum(kind in kinds for _, kind in self.done)

    async def _do(self, fault: Fault) -> None:
        instance = self.stage.instances[fault.instance]
        async with instance.busy if fault.kind in OF_PROCESSES else self.server:
            self.done.append((time.time(), fault.kind))
            self.moments.append(time.time())
            if fault.kind in OF_PROCESSES:
                await self._to_process(instance, fault)
            else:
                await self._to_database(instance, fault)
            self.moments.append(time.time())

    async def _to_database(self, instance: Instance, fault: Fault) -> None:
        outage = Outage(fault.kind, time.time())
        self.outages.append(outage)
        if self.stage.shared:
            await self._to_server(self.stage.shared, fault)
        elif fault.kind == "disk full":
            async with instance.busy:
                instance.fill_disk(True)
                await asyncio.sleep(fault.seconds)
                instance.fill_disk(False)
        else:
            await self._lock(fault.seconds)
        outage.ended = time.time()

    async def _to_process(self, instance: Instance, fault: Fault) -> None:
        if fault.kind == "freeze":
            # It may hold locks meanwhile that others wait for.
            outage = Outage(fault.kind, time.time())
            self.outages.append(outage)
            instance.freeze(True)
            await asyncio.sleep(fault.seconds)
            instance.freeze(False)
            outage.ended = time.time()
            return
        await (instance.terminate() if fault.kind == "terminate" else instance.kill())
        await asyncio.sleep(fault.seconds)
        await instance.start_again()

    async def _to_server(self, shared: Shared, fault: Fault) -> None:
        match fault.kind:
            case "server restarted":
                await shared.postgres.stop_at_once()
                await asyncio.sleep(fault.seconds)
                await shared.postgres.start()
            case "backends ended":
                await shared.postgres.cut_connections(DATABASE)
            case "line dropped":
                shared.line.drop()
            case "line silent":
                shared.line.silent = True
                await asyncio.sleep(fault.seconds)
                shared.line.silent = False

    async def _lock(self, seconds: float) -> None:
        """Another program writes to the file and takes its time."""
        other = sqlite3.connect(self.stage.file, isolation_level=None, timeout=0, check_same_thread=False)
        try:
            other.execute("BEGIN IMMEDIATE")
            await asyncio.sleep(seconds)
            other.execute("ROLLBACK")
        except sqlite3.OperationalError:
            pass  # The product was writing itself just then.
        finally:
            other.close()
