"""Everything at once: `from astrbot.api.all import *`.

Compat(astrbot): no `__all__` on purpose, so that `json`, `os`, `asyncio` and the like leak as upstream's do."""

from astrbot import logger  # noqa: F401
from astrbot.core import html_renderer  # noqa: F401
from astrbot.core.config.astrbot_config import AstrBotConfig  # noqa: F401
from astrbot.core.db.po import Personality  # noqa: F401
from astrbot.core.message.message_event_result import (  # noqa: F401
    CommandResult,
    EventResultType,
    MessageChain,
    MessageEventResult,
)
from astrbot.core.platform import (  # noqa: F401
    AstrBotMessage,
    AstrMessageEvent,
    MessageMember,
    MessageType,
    Platform,
    PlatformMetadata,
)
from astrbot.core.platform.register import register_platform_adapter  # noqa: F401
from astrbot.core.provider import Provider, ProviderMetaData  # noqa: F401
from astrbot.core.star import Context, Star  # noqa: F401
from astrbot.core.star.config import *  # noqa: F403
from astrbot.core.star.filter.event_message_type import EventMessageType, EventMessageTypeFilter  # noqa: F401
from astrbot.core.star.filter.platform_adapter_type import (  # noqa: F401
    PlatformAdapterType,
    PlatformAdapterTypeFilter,
)
from astrbot.core.star.register import register_command as command  # noqa: F401
from astrbot.core.star.register import register_command_group as command_group  # noqa: F401
from astrbot.core.star.register import register_event_message_type as event_message_type  # noqa: F401
from astrbot.core.star.register import register_llm_tool as llm_tool  # noqa: F401
from astrbot.core.star.register import register_platform_adapter_type as platform_adapter_type  # noqa: F401
from astrbot.core.star.register import register_regex as regex  # noqa: F401
from astrbot.core.star.register import register_star as register  # noqa: F401

from .message_components import *  # noqa: F403
