"""Process-wide objects of the AstrBot flavour: configuration, preferences, renderer, file service."""

import os

from astrbot.core.config import AstrBotConfig
from astrbot.core.db import BaseDatabase
from astrbot.core.file_token_service import FileTokenService
from astrbot.core.utils.pip_installer import DependencyConflictError, PipInstaller
from astrbot.core.utils.shared_preferences import SharedPreferences
from astrbot.core.utils.t2i.renderer import HtmlRenderer

from .log import LogBroker, LogManager
from .utils.astrbot_path import get_astrbot_data_path

os.makedirs(get_astrbot_data_path(), exist_ok=True)

DEMO_MODE = False
astrbot_config = AstrBotConfig()
html_renderer = HtmlRenderer()
logger = LogManager.GetLogger(log_name="astrbot")
db_helper = BaseDatabase()
sp = SharedPreferences()
# Compat(astrbot): the instance deliberately hides the module of the same name.
file_token_service = FileTokenService()
pip_installer = PipInstaller()

__all__ = [
    "DEMO_MODE",
    "AstrBotConfig",
    "DependencyConflictError",
    "LogBroker",
    "LogManager",
    "astrbot_config",
    "db_helper",
    "file_token_service",
    "html_renderer",
    "logger",
    "pip_installer",
    "sp",
]
