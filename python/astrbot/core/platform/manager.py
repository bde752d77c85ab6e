"""The platforms there are: one for each platform that a message came from, or that the host names."""

from __future__ import annotations

from asyncio import Queue
from typing import Any

from .platform import HostedPlatform, Platform


class PlatformManager:
    def __init__(self, config: Any, event_queue: Queue) -> None:
        self.platforms_config = config.get("platform", [])
        self.event_queue = event_queue
        self.platform_insts: list[Platform] = []

    @property
    def _inst_map(self) -> dict[str, dict]:
        return {one.meta().id: {"inst": one, "client_id": one.client_self_id} for one in self.platform_insts}

    def get_insts(self) -> list[Platform]:
        return self.platform_insts

    def get(self, id: str, name: str) -> Platform:
        """The platform of that id, made at its first message."""
        for platform in self.platform_insts:
            if platform.meta().id == id:
                return platform
        made = HostedPlatform(id, name, self.event_queue)
        self.platform_insts.append(made)
        return made
