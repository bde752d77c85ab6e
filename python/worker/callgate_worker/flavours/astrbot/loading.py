"""Loading and unloading one plugin: import as `data.plugins.<dir>`, configuration, the instance, its handlers."""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from callgate_worker import host
from callgate_worker.flavour import Source
from callgate_worker.flavours.astrbot import metadata as _metadata
from callgate_worker.flavours.astrbot.runtime import Runtime

logger = logging.getLogger("astrbot")
_TASKS: dict[str, list[asyncio.Future]] = {}


async def load(runtime: Runtime, source: Source) -> tuple[Any, list[str]]:
    """The plugin's StarMetadata, and what an operator should know."""
    folder = source.path if source.path.is_dir() else source.path.parent
    directory = source.options.get("dirname") or _directory(folder)
    place = _place(runtime.root, folder, directory)
    package = f"data.plugins.{directory}"
    forget(package)
    try:
        return await _load(runtime, source, place, package, directory)
    except BaseException:
        forget(package)
        raise


def _directory(folder: Path) -> str:
    """AstrBot installs a plugin below its own name, and plugins import themselves by it."""
    try:
        name = (_metadata.read(folder) or {}).get("name", "").strip()
    except Exception:
        name = ""
    single = not (folder / "main.py").exists()
    return name if name.isidentifier() and not single else folder.name.replace(".", "_")


def _place(root: Path, folder: Path, directory: str) -> Path:
    """`data/plugins/<directory>`: a link to where the plugin really is, so that its paths are AstrBot's."""
    place = root / "data" / "plugins" / directory
    if place.is_symlink() and place.resolve() != folder.resolve():
        place.unlink()
    if not place.exists():
        place.symlink_to(folder.resolve(), target_is_directory=True)
    return place


async def _load(
    runtime: Runtime, source: Source, place: Path, package: str, directory: str
) -> tuple[Any, list[str]]:
    from astrbot import __version__, texts
    from astrbot.core.star.star import star_map

    warnings: list[str] = []
    entry = "main" if (place / "main.py").exists() else directory
    if not (place / f"{entry}.py").exists():
        raise FileNotFoundError(texts.NO_ENTRY.format(directory=directory))
    path = f"{package}.{entry}"
    importlib.invalidate_caches()
    with _heard(warnings):
        module = importlib.import_module(path)
    config = _config(runtime.root, place, directory, source.options.get("config"))
    star = star_map.get(path) or _old_style(module, path)
    try:
        for name, value in (_metadata.read(place) or {}).items():
            setattr(star, name, value)
    except Exception as error:
        warnings.append(f"metadata: {error}; the name given in the code is used")
    _metadata.check_version(star.astrbot_version, __version__)
    star.module, star.config, star.root_dir_name = module, config, directory
    star.name = star.name or directory
    host.plugin.set(star.name)
    with _heard(warnings):
        _create(runtime, star, config)
        _bind(star)
        if initialize := getattr(star.star_cls, "initialize", None):
            await initialize()
    await announce("OnPluginLoadedEvent", star)
    for point in ("OnAstrBotLoadedEvent", "OnPlatformLoadedEvent"):
        await announce(point, only=path)
    _begin(runtime.context, path)
    return star, warnings


@contextmanager
def _heard(warnings: list[str]) -> Iterator[None]:
    """What is logged for the plugin's author meanwhile is among its warnings."""
    ear = logging.Handler()
    ear.emit = lambda record: warnings.append(record.getMessage())
    author = logging.getLogger("astrbot.author")
    author.addHandler(ear)
    try:
        yield
    finally:
        author.removeHandler(ear)


def _begin(context: Any, path: str) -> None:
    """What the plugin left with `register_task` runs from now on, until it is unloaded."""
    begun = [asyncio.ensure_future(one) for one in context._register_tasks]
    context._register_tasks.clear()
    for task in begun:
        task.add_done_callback(_ended)
    _TASKS[path] = begun


def _ended(task: asyncio.Future) -> None:
    if not task.cancelled() and (error := task.exception()):
        logger.error("a task of a plugin failed: %s", error, exc_info=error)


def _config(root: Path, place: Path, directory: str, given: dict[str, Any] | None) -> Any:
    from astrbot.core.config.astrbot_config import AstrBotConfig, defaults_of

    schema = _metadata.schema(place)
    if schema is None:
        return None
    config = AstrBotConfig(str(root / "data" / "config" / f"{directory}_config.json"), schema=schema)
    if given:
        fitted = {**config, **given}
        # Given in part, a group of settings has its defaults for the rest.
        config.check_config_integrity(defaults_of(schema), fitted)
        config.save_config(fitted)
    return config


def _old_style(module: Any, path: str) -> Any:
    """Compat(astrbot): before 3.4 a plugin was any class `Main` or `...Plugin` of its module."""
    from astrbot import texts
    from astrbot.core.star.star import StarMetadata, star_map, star_registry

    for name, cls in inspect.getmembers(module, inspect.isclass):
        if cls.__module__ == path and (name.lower().endswith("plugin") or name.lower() == "main"):
            star = star_map[path] = StarMetadata(star_cls_type=cls, module_path=path)
            star_registry.append(star)
            return star
    raise TypeError(texts.NO_STAR_CLASS.format(plugin=path.split(".")[2]))


def _create(runtime: Runtime, star: Any, config: Any) -> None:
    """Compat(astrbot): a constructor that takes no configuration is called again without one."""
    cls = star.star_cls_type
    author, name = star.plugin_id.split("/")
    identity = {"name": name, "author": author, "plugin_id": star.plugin_id}
    for key, value in identity.items():
        setattr(cls, key, value)
    try:
        star.star_cls = (
            cls(context=runtime.context, config=config) if config else cls(context=runtime.context)
        )
    except TypeError:
        if not config:
            raise
        star.star_cls = cls(context=runtime.context)
    for key, value in identity.items():
        setattr(star.star_cls, key, value)


def _bind(star: Any) -> None:
    """Decorated functions become bound to the instance, handlers and tools alike."""
    from astrbot.core.provider.register import llm_tools
    from astrbot.core.star.star_handler import star_handlers_registry

    records = star_handlers_registry.get_handlers_by_module_name(star.module_path)
    star.star_handler_full_names = [record.handler_full_name for record in records]
    for record in records:
        if not isinstance(record.handler, functools.partial):
            record.handler = functools.partial(record.handler, star.star_cls)
    for tool in _concrete(llm_tools.func_list):
        handler = tool.handler
        if handler is not None and getattr(handler, "__module__", None) == star.module_path:
            tool.handler_module_path = star.module_path
            if not isinstance(handler, functools.partial) and not inspect.ismethod(handler):
                tool.handler = functools.partial(handler, star.star_cls)


def _concrete(tools: list[Any]) -> list[Any]:
    """The tools and, of a handoff, the tools of its agent."""
    from astrbot.core.agent.handoff import HandoffTool
    from astrbot.core.agent.tool import FunctionTool

    inner = [one for tool in tools if isinstance(tool, HandoffTool) for one in tool.agent.tools or []]
    return [*tools, *(one for one in inner if isinstance(one, FunctionTool))]


async def announce(point: str, *arguments: Any, only: str | None = None) -> None:
    from astrbot.core.pipeline.context_utils import belonging
    from astrbot.core.star.star_handler import EventType, star_handlers_registry

    for record in star_handlers_registry.get_handlers_by_event_type(EventType[point]):
        if only is None or record.handler_module_path == only:
            with belonging(record):
                try:
                    await record.handler(*arguments)
                except Exception:
                    logger.exception("hook %s of %s failed", point, record.handler_module_path)


async def unload(star: Any) -> None:
    if hasattr(star.star_cls, "terminate"):
        try:
            await star.star_cls.terminate()
        except Exception:
            logger.exception("plugin %s did not terminate cleanly", star.name)
    star.activated = False
    for task in _TASKS.pop(star.module_path, []):
        task.cancel()
    if star.star_cls is not None and (cron := getattr(star.star_cls.context, "cron_manager", None)):
        cron.let_go(star.name)
    await announce("OnPluginUnloadedEvent", star)
    forget(star.module_path.rpartition(".")[0])
    star.star_cls = star.module = None
    await asyncio.sleep(0)


def forget(package: str) -> None:
    """Removes every trace of a plugin's code, so that the next load is fresh."""
    from astrbot.core.platform.register import unregister_platform_adapters_by_module
    from astrbot.core.provider.register import llm_tools, provider_cls_map, provider_registry
    from astrbot.core.star.context import Context
    from astrbot.core.star.star import star_map, star_registry
    from astrbot.core.star.star_handler import star_handlers_registry

    def ours(module: str | None) -> bool:
        return module is not None and (module == package or module.startswith(f"{package}."))

    for record in [one for one in star_handlers_registry if ours(one.handler_module_path)]:
        star_handlers_registry.remove(record)
    llm_tools.func_list[:] = [one for one in llm_tools.func_list if not ours(owner(one))]
    Context.registered_web_apis[:] = [one for one in Context.registered_web_apis if not ours(module_of(one[1]))]
    unregister_platform_adapters_by_module(f"{package}.")
    for name in [name for name, one in provider_cls_map.items() if ours(one.cls_type.__module__)]:
        provider_registry.remove(provider_cls_map.pop(name))
    for path in [path for path in star_map if ours(path)]:
        star = star_map.pop(path)
        star_registry[:] = [one for one in star_registry if one is not star]
    for name in [name for name in sys.modules if ours(name)]:
        del sys.modules[name]


def owner(tool: Any) -> str | None:
    """The module a tool belongs to, of a plugin if there is one: where it was registered, its handler's, or its
    class's. Compat(astrbot): a plain FunctionTool is registered as of the module of that class, which is ours."""
    known = [tool.handler_module_path, module_of(tool.handler), type(tool).__module__]
    return next((one for one in known if one and one.startswith("data.plugins.")), next(filter(None, known)))


def module_of(function: Any) -> str | None:
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__module__", None)
