"""`python -m callgate_worker.confined ORDER ARGUMENT...`: becomes another program behind the wall that ORDER, a
JSON object, describes (see `wall.raise_around`): its `program`, or without one this interpreter itself. What
installs packages, and what runs in an environment that packages were put into, is started this way: packages
are other people's code.
"""

import json
import os
import sys

from callgate_worker import wall


def main() -> None:
    order = json.loads(sys.argv[1])
    wall.limit(0)
    try:
        wall.raise_around(order)
    except OSError as error:
        sys.exit(f"error: nothing is installed without a wall around the installer: {error}")
    # What we were found by is not the program's business.
    del os.environ["PYTHONPATH"]
    program = order["program"] or sys.executable
    os.execve(program, [program, *sys.argv[2:]], {**os.environ, **order["environment"]})


if __name__ == "__main__":
    main()
