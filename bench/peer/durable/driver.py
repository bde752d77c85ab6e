"""A workflow of steps that DBOS makes durable, in the SQLite file given. Each line on standard input is a number of
steps; the answer is how long they took together, in nanoseconds."""

import sys
import time

from dbos import DBOS, DBOSConfig

config: DBOSConfig = {
    "name": "bench",
    "system_database_url": f"sqlite:///{sys.argv[1]}",
    "run_admin_server": False,
    "log_level": "ERROR",
}
DBOS(config=config)


@DBOS.step()
def step(value: str) -> str:
    return value


@DBOS.workflow()
def work(count: int) -> int:
    return sum(step(str(number)) == str(number) for number in range(count))


DBOS.launch()
for line in sys.stdin:
    count = int(line)
    began = time.perf_counter_ns()
    assert work(count) == count
    print(time.perf_counter_ns() - began, flush=True)
DBOS.destroy()
