"""Components, as `import astrbot.api.message_components as Comp`.

Compat(astrbot): `import *` also hands out modules that upstream's file imports; plugins use them."""

import asyncio  # noqa: F401
import base64  # noqa: F401
import json  # noqa: F401
import os  # noqa: F401
import sys  # noqa: F401
import uuid  # noqa: F401

from astrbot.core.message.components import *  # noqa: F403
