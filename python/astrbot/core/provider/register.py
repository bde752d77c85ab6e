"""What plugins registered: their tools (`llm_tools`) and their own provider classes."""

from __future__ import annotations

from astrbot.core.provider.entities import ProviderMetaData, ProviderType
from astrbot.core.provider.func_tool_manager import FunctionToolManager

provider_registry: list[ProviderMetaData] = []
provider_cls_map: dict[str, ProviderMetaData] = {}
llm_tools = FunctionToolManager()


def register_provider_adapter(
    provider_type_name: str,
    desc: str,
    provider_type: ProviderType = ProviderType.CHAT_COMPLETION,
    default_config_tmpl: dict | None = None,
    provider_display_name: str | None = None,
):
    def decorator(cls: type) -> type:
        known = provider_cls_map.get(provider_type_name)
        if known is not None and known.cls_type.__module__ != cls.__module__:
            raise ValueError(f"provider adapter {provider_type_name} is registered already")
        metadata = ProviderMetaData(
            id="default",
            model=None,
            type=provider_type_name,
            desc=desc,
            provider_type=provider_type,
            cls_type=cls,
            default_config_tmpl=default_config_tmpl,
            provider_display_name=provider_display_name,
        )
        if known is not None:
            provider_registry.remove(known)
        provider_registry.append(metadata)
        provider_cls_map[provider_type_name] = metadata
        return cls

    return decorator
