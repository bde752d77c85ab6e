"""Platforms, as plugins name them."""

from typing import Any


def get_adapter(adapter_key: str) -> Any:
    from nekro_agent.adapters.utils import adapter_utils

    return adapter_utils.get_adapter(adapter_key)
