"""Configuration files of AstrBot's shape."""

from .astrbot_config import AstrBotConfig
from .default import DB_PATH, DEFAULT_CONFIG, VERSION

__all__ = ["DB_PATH", "DEFAULT_CONFIG", "VERSION", "AstrBotConfig"]
