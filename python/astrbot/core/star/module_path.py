"""Finds the plugin that a tool belongs to, from where its class was defined."""

from __future__ import annotations

from typing import Any

from .star import star_registry


def plugin_module(tool: Any) -> str:
    """The main module of the plugin whose code defines `tool`, else the module itself."""
    module = getattr(tool, "__module__", None) or type(tool).__module__
    words = module.split(".")
    if "plugins" in words[:-1]:
        place = words.index("plugins") + 1
        for star in reversed(star_registry):
            if star.module_path and star.module_path.startswith(".".join(words[: place + 1]) + "."):
                return star.module_path
        return ".".join([*words[: place + 1], "main"])
    return module
