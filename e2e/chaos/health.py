"""Whether `/healthz` and `/livez` tell the truth: ready while the store can be written, alive in any case."""

import asyncio
import time
from dataclasses import dataclass, field

from .faults import Faults
from .instance import Instance
from .web import Unreachable, ask

# A look is at most a second old, and waits two seconds for the store.
_NOTICES = 4.5
# Connections that an outage has left dead are given up by then.
_RECOVERS = 20.0


@dataclass
class Health:
    faults: Faults
    looks: int = 0
    wrong: list[str] = field(default_factory=list)

    async def run(self, instance: Instance) -> None:
        while True:
            await asyncio.sleep(0.7)
            since = instance.ready_since
            begun = time.time()
            ready, alive = await _status(instance, "/healthz"), await _status(instance, "/livez")
            if since is None or instance.ready_since != since or instance.stopped or instance.busy.locked():
                continue  # It was away meanwhile.
            self.looks += 1
            if alive != 200:
                self._note(instance, f"/livez said {alive}")
            if ready == 200 and (kind := self._out_for(begun, _NOTICES)):
                self._note(instance, f"/healthz said 200 in the middle of '{kind}'")
            if ready != 200 and begun - since > _RECOVERS and not self._out_since(begun - _RECOVERS):
                self._note(instance, f"/healthz said {ready} while nothing was wrong")

    def _note(self, instance: Instance, what: str) -> None:
        self.wrong.append(f"{what} ({instance.folder.name})")

    def _out_for(self, at: float, seconds: float) -> str | None:
        lasting = {"line silent", "server restarted", "disk full"}
        for outage in self.faults.outages:
            if outage.kind in lasting and outage.begun < at - seconds and outage.ended is None:
                return outage.kind
        return None

    def _out_since(self, at: float) -> bool:
        return any(outage.ended is None or outage.ended > at for outage in self.faults.outages)


async def _status(instance: Instance, path: str) -> int:
    try:
        return (await ask(instance.port, "GET", path, seconds=5))[0]
    except Unreachable:
        return 0
