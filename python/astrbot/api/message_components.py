"""Components, as `import astrbot.api.message_components as Comp`."""

from astrbot.core.message.components import *  # noqa: F403
