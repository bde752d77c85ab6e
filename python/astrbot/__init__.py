"""The package that published AstrBot plugins import. Objects plugins touch live here; state lives in
the host. Behaviour follows AstrBot 4.27.4; what users or models read is in `astrbot.texts`."""

import logging
import typing

from typing_extensions import override

from astrbot import absent

__version__ = "4.27.4"
logger = logging.getLogger("astrbot")
absent.install()
# Compat(astrbot): it runs on Python 3.12 at least, and plugins take this name from there.
if not hasattr(typing, "override"):
    typing.override = override
