"""Compat(astrbot): plugins import decorators from upstream's one module."""

from .agent import *  # noqa: F403
from .agent import RegisteringAgent, register_agent, register_llm_tool  # noqa: F401
from .command import *  # noqa: F403
from .handler import get_handler_full_name, get_handler_or_create  # noqa: F401
from .hook import *  # noqa: F403
