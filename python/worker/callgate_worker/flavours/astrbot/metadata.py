"""What a plugin says of itself: metadata.yaml, its version range, its configuration schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

_NAMES = ("metadata.yaml", "metadata.yml")
_REQUIRED = ("name", "desc", "version", "author")


def read(folder: Path) -> dict[str, Any] | None:
    """The metadata, None without a file. A malformed file raises: the plugin's `@register` counts then."""
    file = next((folder / name for name in _NAMES if (folder / name).exists()), None)
    if file is None:
        return None
    found = yaml.safe_load(file.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        return None
    found.setdefault("desc", found.get("description"))
    wrong = [name for name in _REQUIRED if not isinstance(found.get(name), str) or not found[name].strip()]
    if wrong:
        raise ValueError(f"{file.name}: {', '.join(wrong)} must be text, and not empty")
    return {
        **{name: found[name] for name in _REQUIRED},
        "repo": found.get("repo"),
        "display_name": found.get("display_name"),
        "short_desc": _of(str, found.get("short_desc")),
        "astrbot_version": _of(str, found.get("astrbot_version")),
        "support_platforms": [
            one for one in _of(list, found.get("support_platforms")) or [] if isinstance(one, str)
        ],
        "pages": _of(list, found.get("pages")) or [],
    }


def _of(kind: type, value: Any) -> Any:
    return value if isinstance(value, kind) else None


def check_version(wanted: str | None, version: str) -> None:
    if not wanted or not wanted.strip():
        return
    from astrbot import texts

    try:
        fits = SpecifierSet(wanted).contains(Version(version), prereleases=True)
    except InvalidSpecifier:
        raise ValueError(texts.BAD_VERSION_RANGE) from None
    if not fits:
        raise ValueError(texts.OTHER_VERSION.format(wanted=wanted, version=version))


def schema(folder: Path) -> dict[str, Any] | None:
    file = folder / "_conf_schema.json"
    if not file.exists():
        return None
    try:
        return json.loads(file.read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"_conf_schema.json cannot be read: {error}") from error
