"""The real Callgate with a Satori platform and a model that answers at once."""

from pathlib import Path

from onebot.callgate import Callgate
from onebot.process import E2E, TOKEN

from .server import SatoriServer

_SETTINGS = """
[models]
default = "script:{script}"

[agent]
debounce_ms = 0
keep_requests = false

[[platform]]
id = "sat"
kind = "satori"
url = "{url}"
token = "{token}"
{more}
"""


class SatoriCallgate(Callgate):
    def __init__(self, binary: str, folder: Path, server: SatoriServer, *, plugin: bool = False, account: str = "meadow",
                 token: str = TOKEN, more: str = ""):  # fmt: skip
        super().__init__(binary, folder, plugin=plugin)
        self.port = server.port
        self._plugin = ["--plugin", str(E2E / "satori/plugin")] if plugin else []
        more += f'\naccount = "{account}"' if account else ""
        settings = _SETTINGS.format(script=self.script, url=server.url, token=token, more=more)
        (self.data / "callgate.toml").write_text(settings)
