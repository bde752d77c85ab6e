"""Key-value data of one plugin, kept among the host's preferences."""

from __future__ import annotations

from typing import Any, TypeVar

from astrbot.core import sp

SUPPORTED_VALUE_TYPES = int | float | str | bytes | bool | dict | list | None
_Value = TypeVar("_Value")


class PluginKVStoreMixin:
    plugin_id: str

    async def put_kv_data(self, key: str, value: Any) -> None:
        await sp.put_async("plugin", self.plugin_id, key, value)

    async def get_kv_data(self, key: str, default: _Value = None) -> _Value | None:
        return await sp.get_async("plugin", self.plugin_id, key, default)

    async def delete_kv_data(self, key: str) -> None:
        await sp.remove_async("plugin", self.plugin_id, key)
