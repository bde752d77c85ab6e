"""The base class of plugins and what they are given."""

from astrbot.core.star import Context, Star, StarTools
from astrbot.core.star.config import *  # noqa: F403
from astrbot.core.star.register import register_star as register

__all__ = ["Context", "Star", "StarTools", "register"]
