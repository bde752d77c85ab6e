"""The class every plugin derives from. Deriving registers: the last Star of a module is the plugin."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from astrbot.core import html_renderer
from astrbot.core.log import LogManager
from astrbot.core.utils.command_parser import CommandParserMixin
from astrbot.core.utils.plugin_kv_store import PluginKVStoreMixin

from .star import StarMetadata, star_map, star_registry

if TYPE_CHECKING:
    from .context import Context


class Star(CommandParserMixin, PluginKVStoreMixin):
    author: str
    name: str
    context: Context
    logger: logging.Logger

    def __init__(self, context: Context, config: dict | None = None) -> None:
        self.context = context
        metadata = star_map.get(type(self).__module__)
        name = (metadata.name if metadata else None) or getattr(self, "name", None)
        try:
            self.logger = LogManager.get_plugin_logger(name) if name else logging.getLogger("astrbot")
        except AttributeError:
            pass  # the plugin has a read-only `logger` of its own

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        metadata = star_map.get(cls.__module__)
        if metadata is None:
            metadata = star_map[cls.__module__] = StarMetadata()
            star_registry.append(metadata)
        metadata.star_cls_type = cls
        metadata.module_path = cls.__module__

    async def text_to_image(self, text: str, return_url: bool = True) -> str:
        return await html_renderer.render_t2i(text, return_url=return_url)

    async def html_render(
        self, tmpl: str, data: dict, return_url: bool = True, options: dict | None = None
    ) -> str:
        return await html_renderer.render_custom_template(tmpl, data, return_url=return_url, options=options)

    async def initialize(self) -> None:
        """Runs after the plugin was made."""

    async def terminate(self) -> None:
        """Runs before the plugin is taken away."""

    def __del__(self) -> None:
        """Compat(astrbot): plugins call `super().__del__()`."""
