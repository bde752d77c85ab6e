"""What a loaded plugin is, in the words of the gate."""

import inspect
from typing import Any

from callgate_worker import signature
from callgate_worker.flavour import Loaded, MethodSpec
from nekro_agent import absent
from nekro_agent.core.core_utils import ConfigBase
from nekro_agent.services.command.base import PluginCommandAdapter
from nekro_agent.services.plugin.base import NekroPlugin
from nekro_agent.services.plugin.schema import SandboxMethod, SandboxMethodType

_HOOKS = {
    "init": "init_method",
    "cleanup": "cleanup_method",
    "inject": "prompt_inject_method",
    "collect": "_collect_methods_func",
    "message": "on_user_message_method",
    "system_message": "on_system_message_method",
    "reset": "on_reset_method",
    "enabled": "_on_enabled_callbacks",
    "disabled": "_on_disabled_callbacks",
    "webhook": "webhook_methods",
    "task": "_async_tasks",
}


def loaded(plugin: NekroPlugin, touched: dict[str, str]) -> Loaded:
    hooks = [name for name, attribute in _HOOKS.items() if getattr(plugin, attribute)]
    if plugin.has_router:
        hooks.append("router")
    return Loaded(
        id=plugin.key,
        name=plugin.name,
        version=plugin.version,
        author=plugin.author,
        description=plugin.description,
        methods=methods(plugin),
        commands=[command(it) for it in plugin._commands],
        hooks=hooks,
        config=config(plugin)["values"],
        warnings=[f"{module} is not here: {feature}" for module, feature in touched.items()],
        extra={
            "module_name": plugin.module_name,
            "url": plugin.url,
            "adapters": plugin.support_adapter,
            "sleep": {"allowed": plugin.allow_sleep, "brief": plugin.sleep_brief},
            "webhooks": {name: it.description for name, it in plugin.webhook_methods.items()},
            "tasks": list(plugin._async_tasks),
            "page": plugin.get_webui_url_path(),
        },
    )


def methods(plugin: NekroPlugin) -> list[MethodSpec]:
    """Each function once, by its own name; the decorator's name is an alias where it can be one."""
    taken = {method.func.__name__ for method in plugin.sandbox_methods}
    specs: dict[str, MethodSpec] = {}
    for method in plugin.sandbox_methods:
        spec = specs[method.func.__name__] = _spec(method)
        alias = method.name.strip()
        if alias.isascii() and alias.isidentifier() and alias not in taken:
            spec.aliases.append(alias)
            taken.add(alias)
    return list(specs.values())


def _spec(method: SandboxMethod) -> MethodSpec:
    function = method.func
    context = next(iter(inspect.signature(function).parameters), None)
    return MethodSpec(
        name=function.__name__,
        title=method.name,
        description=method.description,
        doc=(function.__doc__ or "").strip(),
        parameters=signature.parameters(function, skip={context} if context else set()),
        returns=signature.returns(function),
        kind=SandboxMethodType(method.method_type).value,
        binding="loose",
    )


def command(given: Any) -> dict[str, Any]:
    about = PluginCommandAdapter(given).metadata
    return {
        "name": about.name,
        "namespace": about.namespace,
        "aliases": about.aliases,
        "description": about.description,
        "usage": about.usage,
        "permission": about.permission.value,
        "category": about.category,
        "internal": about.internal,
        "parameters": about.params_schema,
    }


def config(plugin: NekroPlugin) -> dict[str, Any]:
    """Values, the JSON Schema of a form for them, and the file. What `ExtraField` says of a setting
    stands in the schema beside its type."""
    if plugin._Configs is ConfigBase:
        return {"values": {}, "schema": None, "file": None}
    live = plugin.get_config()
    return {
        "values": live.model_dump(mode="json"),
        "schema": type(live).model_json_schema(),
        "file": str(plugin._plugin_config_path),
    }


def newly_touched(before: dict[str, str]) -> dict[str, str]:
    """Missing parts of Nekro Agent that were imported since."""
    return {module: feature for module, feature in absent.touched.items() if module not in before}
