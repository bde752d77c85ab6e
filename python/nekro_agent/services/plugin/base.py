"""`NekroPlugin`: what a plugin is, its settings, and how its parts are run."""

import asyncio
import re
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar, cast

from nekro_agent import markers
from nekro_agent.core.core_utils import ConfigBase
from nekro_agent.core.logger import get_sub_logger
from nekro_agent.core.os_env import plugin_folder
from nekro_agent.schemas.agent_ctx import AgentCtx
from nekro_agent.schemas.i18n import I18nDict, SupportedLang, get_text
from nekro_agent.services.plugin.mounting import Mounting
from nekro_agent.services.plugin.schema import SandboxMethod, SandboxMethodType
from nekro_agent.services.plugin.store import PluginStore

T = TypeVar("T", bound=ConfigBase)
PluginConfigType = TypeVar("PluginConfigType", bound=ConfigBase)

home: ContextVar[Path | None] = ContextVar("home", default=None)
"""The folder that the host keeps for the plugin being loaded."""

_AGENT_TYPES = (SandboxMethodType.AGENT, SandboxMethodType.MULTIMODAL_AGENT)


class NekroPlugin(Mounting):
    _Configs: type[ConfigBase] = ConfigBase
    _config: ConfigBase

    def __init__(
        self,
        name: str,
        module_name: str,
        description: str,
        version: str,
        author: str,
        url: str,
        support_adapter: list[str] | None = None,
        is_builtin: bool = False,
        is_package: bool = False,
        i18n_name: I18nDict | None = None,
        i18n_description: I18nDict | None = None,
        allow_sleep: bool | None = None,
        sleep_brief: str = "",
        webui_path: str | None = None,
        **unknown: Any,
    ) -> None:
        """What other versions of Nekro Agent take besides is left out, and told in the log."""
        self.name = name
        self.module_name = _identifier(module_name, "module_name")
        self.description = description.strip()
        self.version = version.strip()
        self.author = _identifier(author, "author")
        self.url = url.strip()
        self.support_adapter = support_adapter or []
        self.i18n_name = i18n_name
        self.i18n_description = i18n_description
        self.allow_sleep = allow_sleep
        self.sleep_brief = sleep_brief.strip()
        self._key = f"{self.author}.{self.module_name}"
        self._is_enabled = True
        self._is_builtin = is_builtin
        self._is_package = is_package
        self._module: ModuleType | None = None
        self.logger = get_sub_logger("plugin", log_name=f"plugin.{self._key}", plugin_key=self._key)
        self._plugin_path = plugin_folder(self._key, home.get())
        self._plugin_config_path = self._plugin_path / "config.yaml"
        if unknown:
            self.logger.warning(f"{self._key}: NekroPlugin takes no {', '.join(unknown)}")
        super().__init__(webui_path)

    # Configuration: one object, changed in place, so that a reference to it stays true.

    def mount_config(self) -> Callable[[type[T]], type[T]]:
        def decorator(cls: type[T]) -> type[T]:
            if not (isinstance(cls, type) and issubclass(cls, ConfigBase)):
                raise TypeError("a configuration is a class derived from ConfigBase")
            self._Configs = cls
            self.__dict__.pop("_config", None)
            self.get_config()
            return cls

        return decorator

    def get_config(self, config_cls: type[T] = ConfigBase) -> T:  # type: ignore[assignment]
        if "_config" not in self.__dict__:
            self._plugin_path.mkdir(parents=True, exist_ok=True)
            self._Configs.set_config_key(f"plugin_{self.key}")
            self._Configs.set_config_file_path(self._plugin_config_path)
            self._config = self._Configs.load_config(self._plugin_config_path)
            self._config.dump_config(self._plugin_config_path)
        return cast(T, self._config)

    def save_config(self, config: ConfigBase) -> None:
        if not isinstance(config, self._Configs):
            raise TypeError(f"the configuration of {self.key} is a {self._Configs.__name__}")
        self._config = config
        config.dump_config(self._plugin_config_path)

    # What is known of it.

    @property
    def key(self) -> str:
        return self._key

    @property
    def store(self) -> PluginStore:
        return PluginStore(self)

    @property
    def is_enabled(self) -> bool:
        return self._is_enabled

    @property
    def is_builtin(self) -> bool:
        return self._is_builtin

    @property
    def is_package(self) -> bool:
        return self._is_package

    def get_name(self, lang: SupportedLang = SupportedLang.ZH_CN) -> str:
        return get_text(self.i18n_name, self.name, lang)

    def get_description(self, lang: SupportedLang = SupportedLang.ZH_CN) -> str:
        return get_text(self.i18n_description, self.description, lang)

    def get_plugin_data_dir(self) -> Path:
        self._plugin_path.mkdir(parents=True, exist_ok=True)
        return self._plugin_path

    def get_plugin_path(self) -> Path:
        warnings.warn("use get_plugin_data_dir()", DeprecationWarning, stacklevel=2)
        return self.get_plugin_data_dir()

    def get_vector_collection_name(self, key: str = "") -> str:
        return f"{self.key}-{key}" if key else self.key

    async def get_docs(self) -> str | None:
        """The README beside the module, or else the module's docstring."""
        if self._module is None or not self._module.__file__:
            return None
        readme = Path(self._module.__file__).parent / "README.md"
        if readme.is_file():
            return readme.read_text(encoding="utf-8", errors="replace")
        return (self._module.__doc__ or "").strip() or None

    def _set_module(self, module: ModuleType) -> None:
        self._module = module

    # Running.

    async def enable(self) -> None:
        if not self._is_enabled:
            self._is_enabled = True
            await self.trigger_callbacks("enabled")

    async def disable(self) -> None:
        if self._is_enabled:
            self._is_enabled = False
            await self.trigger_callbacks("disabled")

    async def trigger_callbacks(self, event_type: Literal["enabled", "disabled"]) -> None:
        is_start = event_type == "enabled"
        callbacks = self._on_enabled_callbacks if is_start else self._on_disabled_callbacks
        for result in await asyncio.gather(*(callback() for callback in callbacks), return_exceptions=True):
            if isinstance(result, Exception):
                self.logger.opt(exception=result).error(f"{self.key}: on_{event_type} failed: {result!r}")

    async def collect_available_methods(self, ctx: AgentCtx) -> list[SandboxMethod]:
        """The methods shown in this chat."""
        if self._collect_methods_func is None:
            return self.sandbox_methods
        mounted = {method.func: method for method in self.sandbox_methods}
        available = []
        for chosen in await self._collect_methods_func(ctx):
            if not isinstance(chosen, SandboxMethod) and chosen not in mounted:
                raise ValueError(f"{getattr(chosen, '__name__', chosen)} is not mounted as a method")
            available.append(chosen if isinstance(chosen, SandboxMethod) else mounted[chosen])
        return available

    async def render_inject_prompt(self, ctx: AgentCtx) -> str:
        return await self.prompt_inject_method.func(ctx) if self.prompt_inject_method else ""

    async def render_sandbox_methods_prompt(self, ctx: AgentCtx) -> str:
        """Names and docstrings as they stand. Compat(nekro): a method without one is not shown."""
        shown = []
        for method in await self.collect_available_methods(ctx):
            if method.func.__doc__:
                mark = markers.AGENT_MARK if method.method_type in _AGENT_TYPES else ""
                shown.append(f"* {method.func.__name__}{mark}\n{method.func.__doc__.strip()}")
        return "\n".join(shown)


def _identifier(name: str, field: str) -> str:
    """Letters, digits, underscores and hyphens, no digit in front: it names a folder."""
    bare = name.strip()
    if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]*", bare):
        raise ValueError(f"{field} '{name}': letters, numbers, _ and -, not starting with a number")
    return bare


__all__ = [
    "AgentCtx", "ConfigBase", "NekroPlugin", "PluginConfigType", "PluginStore", "SandboxMethod",
    "SandboxMethodType",
]
