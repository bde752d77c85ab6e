"""The platforms there are: those that the host names, and any other from its first message on."""

from __future__ import annotations

from asyncio import Queue
from typing import Any

from .platform import HostedPlatform, Platform


class PlatformManager:
    def __init__(self, config: Any, event_queue: Queue) -> None:
        self.platforms_config = config.get("platform", [])
        self.settings = config.get("platform_settings", {})
        self.event_queue = event_queue
        self.platform_insts: list[Platform] = []

    @property
    def _inst_map(self) -> dict[str, dict]:
        return {one.meta().id: {"inst": one, "client_id": one.client_self_id} for one in self.platform_insts}

    def get_insts(self) -> list[Platform]:
        return self.platform_insts

    def apply(self, kinds: dict[str, str]) -> None:
        """What the host is connected to, by id. Those it has left may still have chats that are read."""
        for id, kind in kinds.items():
            self.get(id, id, kind)

    def get(self, id: str, name: str, kind: str | None = None) -> Platform:
        """The platform of that id, made where it is new."""
        for platform in self.platform_insts:
            if platform.meta().id == id:
                return platform
        made = self._made(id, name, kind)
        self.platform_insts.append(made)
        return made

    def _made(self, id: str, name: str, kind: str | None) -> Platform:
        if kind == "onebot":
            # Only here: it takes in aiocqhttp, which is large.
            from .sources.aiocqhttp.aiocqhttp_platform_adapter import AiocqhttpAdapter

            return AiocqhttpAdapter({"id": id}, self.settings, self.event_queue)
        if kind == "telegram":
            # Only here: python-telegram-bot is large too.
            from .sources.telegram.tg_adapter import TelegramPlatformAdapter

            return TelegramPlatformAdapter({"id": id}, self.settings, self.event_queue)
        # Compat(astrbot): plugins know platforms by their kind, whatever the operator named them.
        return HostedPlatform(id, kind or name, self.event_queue)
