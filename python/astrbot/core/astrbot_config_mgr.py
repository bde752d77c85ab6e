"""Which configuration belongs to a session. There is one here; sessions differ by the host's settings."""

from __future__ import annotations

import copy
from typing import Any

from astrbot.core.config.astrbot_config import AstrBotConfig
from callgate_worker import host


class AstrBotConfigManager:
    def __init__(self, default_config: AstrBotConfig) -> None:
        self.default_conf = default_config
        self.confs = {"default": default_config}

    def get_conf(self, umo: Any) -> AstrBotConfig | dict:
        """The default configuration, with the session's own default persona where the host has one."""
        if umo is None:
            return self.default_conf
        chosen = host.call_now("persona_default", session=str(umo))
        if not chosen or chosen == self.default_conf["provider_settings"]["default_personality"]:
            return self.default_conf
        own = copy.copy(dict(self.default_conf))
        own["provider_settings"] = {**own["provider_settings"], "default_personality": chosen}
        return own

    def get_conf_info(self, umo: Any) -> dict:
        return {"id": "default", "name": "default"}

    def g(self, umo: Any = None, key: str | None = None, default: Any = None) -> Any:
        conf = self.get_conf(umo)
        return conf if key is None else conf.get(key, default)
