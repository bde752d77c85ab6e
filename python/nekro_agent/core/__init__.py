"""Logging and settings."""

from nekro_agent.core.config import config
from nekro_agent.core.logger import logger

__all__ = ["config", "logger"]
