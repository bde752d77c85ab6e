"""Platform adapters that plugins bring along."""

from __future__ import annotations

from typing import Any

from .platform_metadata import PlatformMetadata

platform_registry: list[PlatformMetadata] = []
platform_cls_map: dict[str, type] = {}


def register_platform_adapter(
    adapter_name: str, desc: str, default_config_tmpl: dict | None = None, **kwargs: Any
):
    def decorator(cls: type) -> type:
        known = platform_cls_map.get(adapter_name)
        if known is not None and known.__module__ != cls.__module__:
            raise ValueError(f"platform adapter {adapter_name} is registered already")
        template = (
            default_config_tmpl
            and {"type": adapter_name, "enable": False, "id": adapter_name} | default_config_tmpl
        )
        platform_registry[:] = [one for one in platform_registry if one.name != adapter_name]
        platform_registry.append(
            PlatformMetadata(
                name=adapter_name,
                description=desc,
                id=adapter_name,
                default_config_tmpl=template,
                module_path=cls.__module__,
                **{
                    name: value
                    for name, value in kwargs.items()
                    if name in PlatformMetadata.__dataclass_fields__
                },
            )
        )
        platform_cls_map[adapter_name] = cls
        return cls

    return decorator


def unregister_platform_adapters_by_module(module_path_prefix: str) -> list[str]:
    gone = [one.name for one in platform_registry if (one.module_path or "").startswith(module_path_prefix)]
    platform_registry[:] = [one for one in platform_registry if one.name not in gone]
    for name in gone:
        platform_cls_map.pop(name, None)
    return gone
