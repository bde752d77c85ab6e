"""`@register(...)`: the old way to name a plugin; metadata.yaml wins over it."""

from __future__ import annotations

from ..star import StarMetadata, star_map, star_registry


def register_star(name: str, author: str, desc: str, version: str, repo: str | None = None):
    def decorator(cls: type) -> type:
        metadata = star_map.get(cls.__module__)
        if metadata is None:
            metadata = star_map[cls.__module__] = StarMetadata(star_cls_type=cls, module_path=cls.__module__)
            star_registry.append(metadata)
        metadata.name, metadata.author, metadata.desc = name, author, desc
        metadata.version, metadata.repo = version, repo
        return cls

    return decorator
