"""Settings by name, `from nekro_agent.config import DEFAULT_PROXY`: some plugins expect them here."""

from typing import Any

from nekro_agent.core.config import config


def __getattr__(name: str) -> Any:
    if name in type(config).model_fields:
        return getattr(config, name)
    raise AttributeError(f"there is no setting {name}")
