"""Platforms by name."""

from nekro_agent import chat_keys, platforms
from nekro_agent.adapters.interface.base import A, BaseAdapter
from nekro_agent.adapters.onebot_v11.adapter import OnebotV11Adapter


class AdapterUtils:
    def __init__(self) -> None:
        self._adapters: dict[str, BaseAdapter] = {}

    def get_adapter(self, adapter_key: str) -> BaseAdapter:
        kind = OnebotV11Adapter if adapter_key == "onebot_v11" and platforms.of_kind("onebot") else BaseAdapter
        if type(self._adapters.get(adapter_key)) is not kind:
            self._adapters[adapter_key] = kind(adapter_key)
        return self._adapters[adapter_key]

    def get_typed_adapter(self, adapter_key: str, adapter_type: type[A]) -> A:
        return self.get_adapter(adapter_key).cast(adapter_type)

    async def get_adapter_for_chat(self, chat_key: str) -> BaseAdapter:
        return self.get_adapter(chat_keys.adapter_of(chat_key))

    async def get_adapter_for_ctx(self, ctx: object) -> BaseAdapter:
        return self.get_adapter(getattr(ctx, "adapter_key", None) or "unknown")


adapter_utils = AdapterUtils()
