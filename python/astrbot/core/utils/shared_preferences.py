"""`sp`: values by scope, scope id and key, kept by the host.

The async forms cross on the main channel, the old blocking forms on the lane."""

from __future__ import annotations

from typing import Any, TypeVar

from callgate_worker import host

from astrbot import texts

_Value = TypeVar("_Value")
_UNKNOWN = "unknown"


class SharedPreferences:
    async def initialize(self) -> None:
        return None

    async def flush(self) -> None:
        return None

    async def close(self) -> None:
        return None

    async def get_async(self, scope: str, scope_id: str, key: str, default: _Value = None) -> _Value:
        if scope_id is None or key is None:
            return default
        found = await host.call("preference_get", scope=scope, scope_id=scope_id, key=key)
        return default if found is None else found["value"]

    async def range_get_async(self, scope: str, scope_id: str | None = None, key: str | None = None) -> list:
        return _rows(await host.call("preference_list", scope=scope, scope_id=scope_id, key=key))

    async def session_get(self, umo: str | None, key: str | None = None, default: Any = None) -> Any:
        if umo is None or key is None:
            return await self.range_get_async("umo", umo, key)
        return await self.get_async("umo", umo, key, default)

    async def global_get(self, key: str | None, default: Any = None) -> Any:
        if key is None:
            return await self.range_get_async("global", "global", key)
        return await self.get_async("global", "global", key, default)

    async def put_async(self, scope: str, scope_id: str, key: str, value: Any) -> None:
        await host.call("preference_set", scope=scope, scope_id=scope_id, key=key, value=value)

    async def session_put(self, umo: str, key: str, value: Any) -> None:
        await self.put_async("umo", umo, key, value)

    async def global_put(self, key: str, value: Any) -> None:
        await self.put_async("global", "global", key, value)

    async def remove_async(self, scope: str, scope_id: str, key: str) -> None:
        await host.call("preference_delete", scope=scope, scope_id=scope_id, key=key)

    async def session_remove(self, umo: str, key: str) -> None:
        await self.remove_async("umo", umo, key)

    async def global_remove(self, key: str) -> None:
        await self.remove_async("global", "global", key)

    async def clear_async(self, scope: str, scope_id: str) -> None:
        for row in await self.range_get_async(scope, scope_id):
            await self.remove_async(scope, scope_id, row.key)

    # Blocking forms of AstrBot 3

    def get(self, key: str, default: Any = None, scope: str | None = None, scope_id: str | None = "") -> Any:
        if scope_id is None or key is None:
            raise ValueError(texts.PREFERENCE_WITHOUT_KEY)
        found = host.call_now(
            "preference_get", scope=scope or _UNKNOWN, scope_id=scope_id or _UNKNOWN, key=key
        )
        return default if found is None or found["value"] is None else found["value"]

    def range_get(self, scope: str, scope_id: str | None = None, key: str | None = None) -> list:
        return _rows(host.call_now("preference_list", scope=scope, scope_id=scope_id, key=key))

    def put(self, key: str, value: Any, scope: str | None = None, scope_id: str | None = None) -> None:
        host.call_now(
            "preference_set",
            scope=scope or _UNKNOWN,
            scope_id=scope_id or _UNKNOWN,
            key=key,
            value=value,
        )

    def remove(self, key: str, scope: str | None = None, scope_id: str | None = None) -> None:
        host.call_now("preference_delete", scope=scope or _UNKNOWN, scope_id=scope_id or _UNKNOWN, key=key)

    def clear(self, scope: str | None = None, scope_id: str | None = None) -> None:
        for row in self.range_get(scope or _UNKNOWN, scope_id or _UNKNOWN):
            self.remove(row.key, row.scope, row.scope_id)


def _rows(found: list[dict]) -> list:
    from astrbot.core.db.po import Preference

    return [Preference(row["scope"], row["scope_id"], row["key"], {"val": row["value"]}) for row in found]
