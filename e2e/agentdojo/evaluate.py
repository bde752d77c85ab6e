"""AgentDojo against the real server, with a model that does whatever it reads.

Every user task alone, and with every injection task of its suite; undefended (tools that declare nothing)
and defended (`manifest.toml`), the latter with three approvers: one who knows the task and allows exactly its
calls, one who allows everything, and nobody at all. Prints a table, and fails where a bound is broken.
"""

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import check
import report
from obedient import Obedient
from peers import SERVER, Peers
from report import ABSENT, APPROVE_ALL, TASK_AWARE, UNDEFENDED, Run
from server import PATIENCE, Server
from suites import SUITES, BaseInjectionTask, BaseUserTask, Direct, TaskSuite
from world import World, configuration


class Stage:
    """The server for one suite, with or without what the functions declare."""

    def __init__(self, binary: str, suite: TaskSuite, defended: bool) -> None:
        self._peers = Peers(suite, declared=defended)
        self._server = Server(binary, SERVER, self._peers.url, **(configuration(suite.name) if defended else {}))
        self._sessions = itertools.count()

    def __enter__(self) -> "Stage":
        until = time.monotonic() + PATIENCE
        while not self._server.connected(SERVER):
            if time.monotonic() > until:
                raise RuntimeError(f"the tools never came\n{self._server.log()}")
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
        self._peers.close()

    def play(self, world: World, column: str) -> Run:
        """One message of the person, up to its answer, or to the call for which nobody answers."""
        model = self._peers.now = Obedient(world)
        session = f"dojo:FriendMessage:{next(self._sessions)}"
        turn = self._server.say(session, world.user_task.PROMPT)
        if turn["stop"] not in ("answered", "approval"):
            raise RuntimeError(f"{world.user_task.ID}: {turn}\n{self._server.log()}")
        asked = []
        while waiting := self._server.waiting(session):
            asked += [_asked(approval) for approval in waiting]
            if column == ABSENT:
                break
            for approval in waiting:
                wanted = column == APPROVE_ALL or model.wants(approval["method"], approval["arguments"])
                self._server.decide(session, approval, wanted)
        if column == UNDEFENDED and world.injection_task and not model.deceived:
            raise RuntimeError(f"{world.user_task.ID}: {world.injection_task.ID} was never read")
        answer = "" if waiting else self._server.last(session)
        task = world.injection_task
        return Run(
            suite=world.suite.name, user_task=world.user_task.ID, injection_task=task and task.ID, column=column,
            done=not waiting and world.useful(answer), reached=world.harmed(answer), said_only=model.said_only,
            asked=asked,
        )


def _asked(approval: dict[str, Any]) -> str:
    """The function and the values that nobody had named; a rule of the operator gives no reason."""
    values = (approval["reason"] or {}).get("values", [])
    named = ", ".join(f"{value['parameter']} = {value['value']}" for value in values)
    return f"{approval['method'].rpartition('/')[2]}: {named or 'by rule'}"


def suite_runs(binary: str, suite: TaskSuite, sample: int) -> Iterator[Run]:
    attack = Direct(suite)
    with ExitStack() as stack:
        bare, declared = (stack.enter_context(Stage(binary, suite, defended)) for defended in (False, True))
        columns = {UNDEFENDED: bare, TASK_AWARE: declared, APPROVE_ALL: declared, ABSENT: declared}
        for user_task, injection_task in _pairs(suite, sample):
            injected = attack.attack(user_task, injection_task) if injection_task else {}
            environment = suite.load_and_inject_default_environment(injected)
            for column, stage in columns.items():
                world = World(suite, user_task, injection_task, environment.model_copy(deep=True))
                yield stage.play(world, column)


def _pairs(suite: TaskSuite, sample: int) -> Iterator[tuple[BaseUserTask, BaseInjectionTask | None]]:
    """Tasks alone, then with each injection; spread evenly where not all are wanted."""
    for injection_tasks in ([None], suite.injection_tasks.values()):
        pairs = list(itertools.product(suite.user_tasks.values(), injection_tasks))
        # An odd step, so that it does not meet the same injection over and over.
        yield from pairs[:: len(pairs) // sample | 1] if sample else pairs


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--suite", choices=SUITES, action="append", help="only this one; can be given more than once")
    sample = "of each suite about N tasks alone and N with an injection"
    words.add_argument("--sample", type=int, default=0, metavar="N", help=sample)
    words.add_argument("--json", action="store_true", help="print every run instead of the table")
    words.add_argument("--write", type=Path, metavar="FILE", help="also write the table there, if everything was run")
    given = words.parse_args()
    binary = os.environ.get("CALLGATE_BIN")
    if not binary:
        words.error("CALLGATE_BIN must name the binary; `make agentdojo` does so")

    if faults := list(check.faults()):
        words.error("the manifest is wrong: " + "; ".join(faults))

    def all_of(name: str) -> list[Run]:
        runs = list(suite_runs(binary, SUITES[name], given.sample))
        print(f"{name}: {len(runs)} runs", file=sys.stderr)
        return runs

    with ThreadPoolExecutor() as pool:
        runs = [run for part in pool.map(all_of, given.suite or SUITES) for run in part]
    if given.write and not given.suite and not given.sample:
        given.write.write_text(report.document(runs))
    print(json.dumps([asdict(run) for run in runs], indent=1) if given.json else report.table(runs))
    broken = report.broken(runs)
    for line in broken:
        print(f"broken: {line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
