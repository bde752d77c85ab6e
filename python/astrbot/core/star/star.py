"""Loaded plugins by module path."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from astrbot.core.config import AstrBotConfig

if TYPE_CHECKING:
    from . import Star

star_registry: list[StarMetadata] = []
star_map: dict[str, StarMetadata] = {}


@dataclass
class StarMetadata:
    name: str | None = None
    author: str | None = None
    desc: str | None = None
    short_desc: str | None = None
    version: str | None = None
    repo: str | None = None
    star_cls_type: type[Any] | None = None
    module_path: str | None = None
    star_cls: Star | None = None
    module: ModuleType | None = None
    root_dir_name: str | None = None
    reserved: bool = False
    activated: bool = True
    config: AstrBotConfig | None = None
    star_handler_full_names: list[str] = field(default_factory=list)
    display_name: str | None = None
    logo_path: str | None = None
    support_platforms: list[str] = field(default_factory=list)
    astrbot_version: str | None = None
    i18n: dict[str, dict] = field(default_factory=dict)
    pages: list[dict] = field(default_factory=list)

    @property
    def plugin_id(self) -> str:
        author, name = ((word or "unknown").lower().replace("/", "_") for word in (self.author, self.name))
        return f"{author}/{name}"

    def __str__(self) -> str:
        return f"Plugin {self.name} ({self.version}) by {self.author}: {self.desc}"

    __repr__ = __str__
