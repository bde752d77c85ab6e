"""How a native plugin is imported and what is read off it. Reloading leaves nothing behind: all
modules of the plugin go with it.
"""

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from callgate import Context, declare
from callgate import settings
from callgate.declare import Declarations, Hook, Method

from callgate_worker import convert, docstring, manifest, signature
from callgate_worker.flavour import Loaded, MethodSpec, Source

VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_ENTRIES = ("__init__.py", "main.py", "plugin.py")
_PREFIX = "callgate_plugin_"
_SURFACES = ("code", "tool_calls", "remote", "plugins")


@dataclass
class Plugin:
    loaded: Loaded
    module: ModuleType
    data: Path
    declarations: Declarations
    methods: dict[str, "Function"] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    """The outermost names under which its code was imported."""

    def hooks(self, point: str) -> list[Hook]:
        return self.declarations.hooks.get(point, [])


def identify(source: Source) -> str:
    """The id it is given, else the one in its pyproject.toml, else the name of its folder."""
    told = source.id
    if not told and source.path.is_dir():
        told = manifest.read(source.path).get("name")
    plugin_id = re.sub(r"[^\w.-]", "_", told or source.path.stem)
    return plugin_id.strip(".") or "plugin"


def load(source: Source, plugin_id: str) -> Plugin:
    name = _PREFIX + re.sub(r"\W", "_", plugin_id)
    clear(name)
    declarations = declare.of(name)
    declarations.plugin, declarations.data = plugin_id, source.data
    try:
        module = bring_in(name, *entry(source.path))
    except BaseException:
        clear(name)
        raise
    about = manifest.read(source.path, alone=source.path.is_file())
    loaded = Loaded(
        id=plugin_id,
        name=about.get("name", plugin_id),
        version=about.get("version", ""),
        author=about.get("author", ""),
        description=about.get("description") or docstring.read(module.__doc__).summary,
        hooks=sorted(declarations.hooks),
    )
    plugin = Plugin(
        loaded, module, source.data, declarations, options=source.options, modules=(name,)
    )
    for method in declarations.methods:
        if method.name in plugin.methods:
            loaded.warnings.append(f"{place(method.function)}: '{method.name}' replaces another")
            loaded.methods = [spec for spec in loaded.methods if spec.name != method.name]
        plugin.methods[method.name] = Function(method.function)
        loaded.methods.append(describe(method))
    loaded.commands = [
        {
            "name": command.name,
            "aliases": list(command.aliases),
            "description": docstring.read(command.function.__doc__).summary,
            "permission": "operator" if command.operator else "user",
        }
        for command in declarations.commands
    ]
    if declarations.config is not None:
        loaded.config = describe_config(plugin)["values"]
    return plugin


def forget(plugin: Plugin) -> None:
    for name in plugin.modules:
        clear(name)


def clear(name: str) -> None:
    """All modules below `name`, and what they declared."""
    for module in [it for it in sys.modules if it == name or it.startswith(name + ".")]:
        del sys.modules[module]
    declare.forget(name)


def entry(path: Path) -> tuple[Path, list[str] | None]:
    """The file to import, and where its submodules lie."""
    if path.is_file():
        return path, None
    for name in _ENTRIES:
        if (path / name).is_file():
            return path / name, [str(path)]
    raise FileNotFoundError(f"{path} has none of {', '.join(_ENTRIES)}")


def bring_in(name: str, file: Path, places: list[str] | None) -> ModuleType:
    # New files are seen at once.
    importlib.invalidate_caches()
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=places)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def describe(method: Method) -> MethodSpec:
    function = method.function
    doc = docstring.read(function.__doc__)
    context = context_parameter(function)
    exposed = method.expose
    return MethodSpec(
        name=method.name,
        title=method.title,
        description=doc.summary,
        doc=inspect.cleandoc(function.__doc__ or ""),
        parameters=signature.parameters(function, skip={context} if context else (), doc=doc),
        returns=signature.returns(function) or "Any",
        kind=method.kind,
        effect=method.effect,
        exposure={} if exposed is None else {name: name in exposed for name in _SURFACES},
        deadline=method.deadline,
    )


_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Function:
    """A function of a plugin with what is known of its signature, read once."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.call = function
        self.hints = signature.annotations(function)
        self.context = context_parameter(function)
        shape = inspect.signature(function)
        outer = [it for it in shape.parameters.values() if it.name != self.context]
        self.parameters = {it.name: it for it in outer}
        self._outer = shape.replace(parameters=outer)
        self._shape = shape
        # What is needed to bind by name alone, as the gate does for all that is declared so.
        plain = all(it.kind in _BY_NAME for it in shape.parameters.values())
        self._required = {it.name for it in outer if it.default is it.empty} if plain else None

    def arguments(
        self, positional: list[Any], named: dict[str, Any], context: Callable[[], Context]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """As it is called with, each converted to what it is annotated with."""
        required = self._required
        if positional or required is None or not required <= named.keys() <= self.parameters.keys():
            bound = self.bind(positional, named, context())
            return bound.args, bound.kwargs
        given = {name: convert.convert(it, self.hints.get(name, Any), name) for name, it in named.items()}
        if self.context:
            given[self.context] = context()
        return (), given

    def bind(
        self, positional: list[Any], named: dict[str, Any], context: Context
    ) -> inspect.BoundArguments:
        """The same by parameter; raises TypeError for what does not fit."""
        bound = self._outer.bind(*positional, **named)
        for name, value in bound.arguments.items():
            if self.parameters[name].kind not in VARIADIC:
                bound.arguments[name] = convert.convert(value, self.hints.get(name, Any), name)
        if self.context:
            bound.arguments[self.context] = context
        return inspect.BoundArguments(self._shape, bound.arguments)


def context_parameter(function: Callable[..., Any]) -> str | None:
    """The parameter annotated with `Context`, which the host fills in."""
    hints = signature.annotations(function)
    return next((name for name, hint in hints.items() if hint is Context and name != "return"), None)


def describe_config(plugin: Plugin) -> dict[str, Any]:
    live = plugin.declarations.config
    file = settings.find(plugin.data)
    if live is None:
        return {"values": {}, "schema": None, "file": None}
    schema = signature.schema(type(live))
    return {"values": convert.plain(live), "schema": schema, "file": str(file)}


def place(function: Callable[..., Any]) -> str:
    code = inspect.unwrap(function).__code__
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"
