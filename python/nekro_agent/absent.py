"""Modules of Nekro Agent with no counterpart here.

They import, so that a plugin that only mentions them loads; using one raises `Absent`, which names
the missing part. A module outside the table is an ordinary ImportError.
"""

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import Any

from nekro_agent import texts

_PARTS = {
    "a platform that is not connected": """
        adapters.bilibili_live adapters.discord adapters.feishu adapters.minecraft
        adapters.onebot_v11.matchers.guard adapters.onebot_v11.matchers.message
        adapters.onebot_v11.matchers.notice adapters.onebot_v11.routers adapters.onebot_v11.tools.at_parser
        adapters.onebot_v11.tools.convertor adapters.onebot_v11.tools.cq_markup adapters.qqbot_openclaw
        adapters.sse adapters.telegram adapters.web adapters.wechat_ilink_multi adapters.wechat_openilink
        adapters.wechatpad adapters.wxwork adapters.wxwork_corp_app adapters.interface.convertor
        models.db_adapter_instance models.db_adapter_instance_event models.db_adapter_instance_session
        services.adapter_instance_service tools.at_parser
    """,
    "the e-mail platform": "adapters.email models.db_email services.mail",
    "workspaces": """
        core.auto_inject_mcp core.auto_inject_skills core.cc_model_presets models.db_workspace_comm_log
        models.db_workspace_resource models.db_workspace_resource_binding schemas.cc_model_preset
        schemas.workspace schemas.workspace_resource services.resources services.workspace services.mcp
    """,
    "the knowledge base": """
        models.db_kb_asset models.db_kb_asset_binding models.db_kb_asset_chunk models.db_kb_asset_reference
        models.db_kb_chunk models.db_kb_document models.db_kb_document_reference schemas.kb services.kb
    """,
    "workspace memory": """
        models.db_mem_entity models.db_mem_episode models.db_mem_media_resource models.db_mem_paragraph
        models.db_mem_reinforcement_log models.db_mem_relation services.memory.consolidator
        services.memory.episode_aggregator services.memory.maintenance services.memory.qdrant_manager
        services.memory.query_service services.memory.rebuild services.memory.recall_contract
        services.memory.retriever services.memory.scheduler services.memory.semantic_writer
    """,
    "direct database access": "core.database core.db_migration core.tortoise_config",
    "the web UI of Nekro Agent": """
        routers services.channel_broadcaster services.command_output_broadcaster
        services.message_broadcaster services.notice_service services.system_broadcast
    """,
    "the host's own agent loop": """
        services.agent.anthropic services.agent.templates services.model_test services.rpc_service
        services.sandbox.ext_caller services.sandbox.ext_caller_code services.sandbox.runner schemas.sandbox
    """,
    "the host's own commands": """
        services.command.built_in services.command.completion services.command.output
    """,
    "the management of the host": """
        core.exception_handlers core.overridable_config services.deployment services.network
        services.plugin.generator services.plugin.manager services.plugin.router_manager
        services.quota_service services.space_cleanup services.user.auth services.user.util
        schemas.space_cleanup tools.docker_util tools.telemetry_util
    """,
    "the calendar of Chinese holidays": "services.timer.cn_workday_service",
    "Nekro's cloud": "systems",
}
FEATURES = {name: part for part, names in _PARTS.items() for name in names.split()}

_PACKAGE = "nekro_agent."
touched: dict[str, str] = {}
"""What was imported from here so far, with the part it belongs to: for `plugin check`."""


class Absent(RuntimeError):
    """A plugin used a part of Nekro Agent that is not here."""


class AbsentAttribute(Absent, AttributeError):
    """The same, in words that `hasattr` understands."""


class _Raising(type):
    """The class of stand-in classes: any use of one, beyond naming it, raises."""

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise Absent(_reason(cls))

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AbsentAttribute(_reason(cls))


def _reason(cls: type) -> str:
    name = f"{cls.__module__}.{cls.__name__}"
    return texts.FEATURE_ABSENT.format(name=name, feature=feature(cls.__module__))


def feature(module: str) -> str | None:
    """The part of Nekro Agent that `module` belongs to, if that part is not here."""
    name = module.removeprefix(_PACKAGE)
    while name:
        if name in FEATURES:
            return FEATURES[name]
        name = name.rpartition(".")[0]
    return None


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Asked last: only for modules that nobody else has."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(_PACKAGE) or feature(fullname) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        touched[module.__name__] = feature(module.__name__) or ""

        def __getattr__(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            stand_in = _Raising(name, (), {"__module__": module.__name__})
            setattr(module, name, stand_in)
            return stand_in

        module.__getattr__ = __getattr__


def install() -> None:
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
