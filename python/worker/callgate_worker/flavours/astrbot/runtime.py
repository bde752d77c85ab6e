"""The objects all AstrBot plugins of a worker share, made when the first plugin is loaded.

The working directory is AstrBot's root: `data/plugins`, `data/config`, `data/plugin_data`, `data/temp`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from callgate_worker import host

_FOLDERS = ("plugins", "config", "plugin_data", "temp")


class Runtime:
    def __init__(self) -> None:
        from callgate_worker.flavours.astrbot.catalogue import Catalogue

        self.root = Path(os.environ.setdefault("ASTRBOT_ROOT", os.getcwd())).resolve()
        for name in _FOLDERS:
            (self.root / "data" / name).mkdir(parents=True, exist_ok=True)
        if str(self.root) not in sys.path:
            sys.path.insert(0, str(self.root))
        self.context = _context()
        self.catalogue = Catalogue(self.context.provider_manager.llm_tools)

    async def refresh(self) -> None:
        """Renews the mirrors of what the host keeps: models, personas, settings, jobs."""
        await self.context.provider_manager.refresh()
        await self.context.persona_manager.initialize()
        self._settings(await host.call("settings_get", session=None) or {})
        await self.context.cron_manager.start(self.context)

    async def renewed(self, settings: dict[str, Any], models: list[dict], personas: list[dict]) -> None:
        """The host says what changed, so that synchronous looks at the mirrors are right."""
        self.context.provider_manager.apply(models)
        await self.context.persona_manager.apply(personas)
        self._settings(settings)

    def _settings(self, settings: dict[str, Any]) -> None:
        self.context.platform_manager.apply(settings.get("platforms") or {})
        config = self.context.get_config()
        for ours, theirs in (("administrators", "admins_id"), ("wake_prefix", "wake_prefix")):
            if settings.get(ours):
                value = settings[ours]
                config[theirs] = [value] if isinstance(value, str) else list(value)
        config["provider_settings"]["default_personality"] = self.context.persona_manager.default_persona
        config["provider_settings"]["default_provider_id"] = self.context.provider_manager.default_id or ""


def _context() -> Any:
    from astrbot.core import astrbot_config, db_helper
    from astrbot.core.astrbot_config_mgr import AstrBotConfigManager
    from astrbot.core.conversation_mgr import ConversationManager
    from astrbot.core.cron.manager import CronJobManager
    from astrbot.core.knowledge_base.kb_mgr import KnowledgeBaseManager
    from astrbot.core.persona_mgr import PersonaManager
    from astrbot.core.platform.manager import PlatformManager
    from astrbot.core.platform_message_history_mgr import PlatformMessageHistoryManager
    from astrbot.core.provider.manager import ProviderManager
    from astrbot.core.star.context import Context
    from astrbot.core.star.star_manager import PluginManager
    from astrbot.core.star.star_tools import StarTools
    from astrbot.core.subagent_orchestrator import SubAgentOrchestrator

    queue: asyncio.Queue = asyncio.Queue()
    configurations = AstrBotConfigManager(astrbot_config)
    personas = PersonaManager(db_helper, configurations)
    providers = ProviderManager(configurations, personas)
    context = Context(
        queue,
        astrbot_config,
        db_helper,
        providers,
        PlatformManager(astrbot_config, queue),
        ConversationManager(db_helper),
        PlatformMessageHistoryManager(db_helper),
        personas,
        configurations,
        KnowledgeBaseManager(providers),
        CronJobManager(db_helper),
        SubAgentOrchestrator(providers.llm_tools, personas),
    )
    context._star_manager = PluginManager(context, astrbot_config)
    StarTools.initialize(context)
    return context
