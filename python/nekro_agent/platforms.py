"""The platforms that the host is connected to: of which kind each is, and which bot speaks there.

Compat(nekro): plugins know every platform of a kind by one adapter key, whatever the operator named it. Chat keys have
the operator's name; one that a plugin put together from the adapter key is understood as well.
"""

_KEYS = {"onebot": "onebot_v11", "matrix": "matrix", "telegram": "telegram"}
_kinds: dict[str, str] = {}
_bots: dict[str, str] = {}
_names: dict[str, str] = {}


def learn(kinds: dict[str, str]) -> None:
    """What the host says: kinds by platform."""
    _kinds.clear()
    _kinds.update(kinds)


def met(platform: str, bot: str | None) -> None:
    """A message came by that bot."""
    if bot:
        _bots[platform] = bot


def named(chat_key: str, name: str | None) -> None:
    """A message said what its chat is called."""
    if name:
        _names[chat_key] = name


def name_of(chat_key: str) -> str | None:
    return _names.get(chat_key)


def bot_of(platform: str) -> str | None:
    return _bots.get(platform)


def of_kind(kind: str) -> list[str]:
    return [platform for platform, known in _kinds.items() if known == kind]


def adapter_key(platform: str) -> str:
    return _KEYS.get(_kinds.get(platform, ""), platform)


def of_key(key: str) -> list[str]:
    """The platforms that plugins know by that key."""
    return [platform for platform in _kinds if adapter_key(platform) == key] or [key]


def chat_key(given: str) -> str:
    """As the host knows it."""
    platform, dash, channel = given.partition("-")
    return given if platform in _kinds or not dash else f"{of_key(platform)[0]}-{channel}"


def stored(values: dict[str, object]) -> dict[str, object]:
    """Conditions, or values, of a row as the host has them."""
    made = dict(values)
    if isinstance(key := made.get("adapter_key"), str):
        platforms = of_key(key)
        if len(platforms) == 1:
            made["adapter_key"] = platforms[0]
        else:
            del made["adapter_key"]
            made["adapter_key__in"] = platforms
    if isinstance(key := made.get("chat_key"), str):
        made["chat_key"] = chat_key(key)
    return made
