"""Platforms by name."""

from nekro_agent import chat_keys
from nekro_agent.adapters.interface.base import BaseAdapter


class AdapterUtils:
    def __init__(self) -> None:
        self._adapters: dict[str, BaseAdapter] = {}

    def get_adapter(self, adapter_key: str) -> BaseAdapter:
        return self._adapters.setdefault(adapter_key, BaseAdapter(adapter_key))

    async def get_adapter_for_chat(self, chat_key: str) -> BaseAdapter:
        return self.get_adapter(chat_keys.adapter_of(chat_key))

    async def get_adapter_for_ctx(self, ctx: object) -> BaseAdapter:
        return self.get_adapter(getattr(ctx, "adapter_key", None) or "unknown")


adapter_utils = AdapterUtils()
