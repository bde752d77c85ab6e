"""One run of chaos on one engine: people speak while things go wrong, then all is quiet and must settle."""

import asyncio
import random
import time
from pathlib import Path

from .checks import Found, Record, check_choice, check_effects, check_messages, check_order, check_rounds
from .clients import Client
from .faults import DATABASE_FAULTS, KILLS, OF_PROCESSES, Faults, schedule
from .health import Health
from .listener import Listener
from .people import Person, approve
from .report import Phase
from .scenarios import Scenarios
from .stage import Stage

CONVERSATIONS = 20
# Further ones, by Socket.IO.
CLIENTS = 4
# After the last fault, for everything to settle.
_QUIET = 90.0


class Chaos:
    def __init__(self, stage: Stage, engine: str, seed: int):
        self.stage = stage
        self.engine = engine
        self.seed = seed
        self.faults = Faults(stage)
        self.health = Health(self.faults)
        instances, key = stage.instances, stage.key
        self.people = [Person(number, instances, key, seed + number) for number in range(CONVERSATIONS)]
        numbers = range(CONVERSATIONS, CONVERSATIONS + CLIENTS)
        self.clients = [Client(number, instances, key, seed + number) for number in numbers]
        self.listeners = [Listener(person.session, instances, key, seed + person.number) for person in self.people]

    async def run(self, name: str, seconds: float) -> Phase:
        others = [
            asyncio.create_task(approve(self.stage.instances, self.stage.key, random.Random(self.seed))),
            *(asyncio.create_task(listener.run()) for listener in self.listeners),
            *(asyncio.create_task(client.listen()) for client in self.clients),
            *(asyncio.create_task(self.health.run(instance)) for instance in self.stage.instances),
        ]
        speakers = [*self.people, *self.clients]
        talking = [asyncio.create_task(speaker.run()) for speaker in speakers]
        await self.faults.run(schedule(self.seed, self.engine, len(self.stage.instances), seconds))
        quiet = time.time()
        for speaker in speakers:
            speaker.ending.set()
        await asyncio.gather(*talking)
        record = await self._settle()
        settled = time.time() - quiet
        await _end(others)
        return self._phase(name, record, settled)

    async def _settle(self) -> Record:
        until = time.time() + _QUIET
        while True:
            record = await Record.read(self.stage)
            waits = record.unsettled(self.said) or record.waiting
            if not waits or time.time() > until:
                return record
            await asyncio.sleep(0.5)

    @property
    def said(self):
        return [one for speaker in (*self.people, *self.clients) for one in speaker.said]

    def _phase(self, name: str, record: Record, settled: float) -> Phase:
        found = Found()
        check_messages(found, record, self.said)
        check_order(found, record, self.said)
        check_choice(found, record, self.said)
        check_effects(found, self.stage.witness.seen)
        check_rounds(found, self.stage.model.rounds, self.faults.moments)
        found.check("nothing refused or mixed up", [line for person in self.people for line in person.wrong])
        found.check("nothing refused or mixed up", [line for client in self.clients for line in client.wrong])
        # Its model never fails and the faults pass: there is no reason to give anything up.
        reported = record.reported(self.said)
        found.check("nothing given up", reported)
        for client in self.clients:
            wrong = client.delivered_wrongly(reported, self.faults.moments)
            found.check("Socket.IO: delivered once", wrong)
        found.check("no event heard twice", [line for listener in self.listeners for line in listener.twice()])
        found.check("health told the truth", self.health.wrong)
        found.check("no process died by itself", [line for one in self.stage.instances for line in one.died])
        rounds = self.stage.model.rounds.values()
        counts = {
            "messages": len(self.said),
            "- by Socket.IO": sum(len(client.said) for client in self.clients),
            "kills": self.faults.count(KILLS),
            "database faults": self.faults.count(DATABASE_FAULTS[self.engine]),
            **{f"- {kind}": self.faults.count((kind,)) for kind in (*OF_PROCESSES, *DATABASE_FAULTS[self.engine])},
            "attempts to send": sum(person.attempts for person in self.people),
            "effects": sum(self.stage.witness.seen.values()),
            "rounds of models": len(rounds),
            "rounds asked for again": sum(len(times) - 1 for times in rounds),
            "listeners came back": sum(listener.returns for listener in self.listeners),
            "answers heard live": sum(sum(listener.heard.values()) for listener in self.listeners),
            "connections by Socket.IO": sum(client.connections for client in self.clients),
            "looks at health": self.health.looks,
            "longest wait to settle, s": round(settled, 1),
        }
        return Phase(name, dict(counts), found)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    """A task that is cancelled just as its wait for something ends does not hear of it: it is told again."""
    going = set(tasks)
    while going:
        for task in going:
            task.cancel()
        _, going = await asyncio.wait(going, timeout=1)


async def run_phase(binary: str, folder: Path, engine: str, instances: int, seed: int, seconds: float) -> Phase:
    stage = Stage(binary, folder, seed)
    try:
        await stage.set(engine, instances)
        return await Chaos(stage, engine, seed).run(f"{engine} x {instances}", seconds)
    finally:
        await stage.clear()


async def run_scenarios(binary: str, folder: Path, engine: str, seed: int, messages: int) -> Phase:
    """One after the other, on a stage of their own."""
    stage = Stage(binary, folder, seed)
    phase = Phase(f"{engine}, scenarios")
    try:
        await stage.set(engine, 2 if engine == "postgres" else 1)
        scenarios = Scenarios(stage)
        if engine == "postgres":
            phase.found.check("taken over soon", await scenarios.take_over())
            phase.found.check("an old name locks nobody out", await scenarios.come_back())
            phase.found.check("a copied directory is told", await scenarios.copied_directory())
        phase.found.check("a clock set back loses nothing", await scenarios.clock_set_back())
        phase.found.check("accepted is stored", await scenarios.accepted_and_killed())
        phase.found.check("answers stay quick and cheap", await scenarios.flat_cost(messages))
        check_effects(phase.found, stage.witness.seen)
        phase.found.check("no process died by itself", [line for one in stage.instances for line in one.died])
        phase.counts = dict(scenarios.counts)
        return phase
    finally:
        await stage.clear()
