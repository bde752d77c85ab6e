"""Settings in force for a chat: the host's, which are the same for all."""

from nekro_agent.core.config import CoreConfig, config


class ConfigResolver:
    async def get_effective_config(self, chat_key: str) -> CoreConfig:
        return config


config_resolver = ConfigResolver()
