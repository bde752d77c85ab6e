"""`State`: what a plugin keeps between calls and restarts, as values by name.

Values are JSON data. `await state.get(...)` in asynchronous code; `state[...]` in plain functions,
where it blocks for the moment the host needs.
"""

import json
from collections.abc import Iterator
from typing import Any

from callgate import declare, link

_MISSING = object()


class State:
    """The plugin's own values; of one chat or one person with `of`.

    `State()` at the top of a plugin's module belongs to that plugin.
    """

    def __init__(self) -> None:
        self._owner = declare.of_caller()
        self._plugin = ""
        self._scope = {"chat": "", "user": ""}

    @classmethod
    def of(cls, plugin: str, *, chat: str = "", user: str = "") -> "State":
        state = cls.__new__(cls)
        state._owner, state._plugin = None, plugin
        state._scope = {"chat": chat, "user": user}
        return state

    def of_chat(self, session: str) -> "State":
        return State.of(self._address()["plugin"], chat=session)

    def of_user(self, user: str) -> "State":
        return State.of(self._address()["plugin"], user=user)

    async def get(self, name: str, default: Any = None) -> Any:
        return _read(await link.call("data_get", **self._address(), name=name), default)

    async def set(self, name: str, value: Any) -> None:
        await link.call("data_set", **self._address(), name=name, value=json.dumps(value))

    async def delete(self, name: str) -> None:
        await link.call("data_delete", **self._address(), name=name)

    async def names(self) -> list[str]:
        return [row["name"] for row in await link.call("data_list", **self._address())]

    def __getitem__(self, name: str) -> Any:
        value = _read(link.call_now("data_get", **self._address(), name=name), _MISSING)
        if value is _MISSING:
            raise KeyError(name)
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        link.call_now("data_set", **self._address(), name=name, value=json.dumps(value))

    def __delitem__(self, name: str) -> None:
        self[name]
        link.call_now("data_delete", **self._address(), name=name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in list(self)

    def __iter__(self) -> Iterator[str]:
        return iter([row["name"] for row in link.call_now("data_list", **self._address())])

    def _address(self) -> dict[str, str]:
        # The id is known only once the plugin is loaded, after `State()` was made.
        plugin = self._owner.plugin if self._owner else self._plugin
        return {"plugin": plugin, **self._scope}


def _read(stored: str | None, default: Any) -> Any:
    return default if stored is None else json.loads(stored)

