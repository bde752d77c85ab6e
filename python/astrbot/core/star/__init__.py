"""Plugins: their base class, what they are given, what is known of them."""

from astrbot.core.provider import Provider

from .base import Star
from .context import Context
from .star import StarMetadata, star_map, star_registry
from .star_manager import PluginManager
from .star_tools import StarTools

__all__ = [
    "Context",
    "PluginManager",
    "Provider",
    "Star",
    "StarMetadata",
    "StarTools",
    "star_map",
    "star_registry",
]
