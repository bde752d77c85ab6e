"""`plugin.store`: texts that a plugin keeps per chat and per person. The host writes them atomically."""

from typing import TYPE_CHECKING, Literal

from callgate_worker import host

if TYPE_CHECKING:
    from nekro_agent.services.plugin.base import NekroPlugin


class PluginStore:
    def __init__(self, plugin: "NekroPlugin") -> None:
        self._plugin = plugin

    def _place(self, chat_key: str, user_key: str, store_key: str) -> dict[str, str]:
        return {
            "plugin": self._plugin.key,
            "chat": str(chat_key or ""),
            "user": str(user_key or ""),
            "name": str(store_key or ""),
        }

    async def get(self, chat_key: str = "", user_key: str = "", store_key: str = "") -> str | None:
        return await host.call("data_get", **self._place(chat_key, user_key, store_key))

    async def set(
        self, chat_key: str = "", user_key: str = "", store_key: str = "", value: str = ""
    ) -> Literal[0, 1]:
        """0 where the value is new, 1 where it replaces one."""
        place = self._place(chat_key, user_key, store_key)
        if not isinstance(value, str):
            raise TypeError(f"a stored value is a text, not {type(value).__name__}: use json.dumps")
        return 0 if await host.call("data_set", **place, value=value) else 1

    async def delete(self, chat_key: str = "", user_key: str = "", store_key: str = "") -> Literal[0, 1]:
        """0 where there was a value, 1 where there was none."""
        return 0 if await host.call("data_delete", **self._place(chat_key, user_key, store_key)) else 1
