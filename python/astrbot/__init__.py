"""The package that published AstrBot plugins import. Objects plugins touch live here; state lives in
the host. Behaviour follows AstrBot 4.27.4; what users or models read is in `astrbot.texts`."""

import logging

from astrbot import absent

__version__ = "4.27.4"
logger = logging.getLogger("astrbot")
absent.install()
