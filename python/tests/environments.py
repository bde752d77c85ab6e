"""The interpreters with the packages that plugins of a flavour rely on: the product's own, shared
with its other tests. One that is missing is made; that it cannot be made is a failure.
"""

import functools
import os
import subprocess
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_PLUGINS = {
    "astrbot": _ROOT / "python/tests/astrbot/weather_agents",
    "nekro": _ROOT / "e2e/plugins/nekro_examples",
}


@functools.cache
def interpreter(flavour: str) -> str:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    python = cache / "callgate/environments" / flavour / "bin/python"
    if not python.exists():
        binary = os.environ.get("CALLGATE_BIN")
        callgate = [binary] if binary else ["cargo", "run", "--quiet", "-p", "callgate-cli", "--"]
        check = ["plugin", "check", str(_PLUGINS[flavour])]
        subprocess.run([*callgate, *check], cwd=_ROOT, check=True, stdout=subprocess.DEVNULL)
    return str(python)
