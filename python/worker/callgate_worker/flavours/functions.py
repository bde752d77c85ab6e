"""The operator's functions: every public function of the `*.py` files of a folder is a method that
remote callers may use. No decorator, no class, no import of ours.

A file that cannot be imported is reported with its line and does not keep the others away; a name
defined twice belongs to the later file.
"""

import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from callgate import declare
from callgate.declare import Method

from callgate_worker.flavour import Loaded, Source
from callgate_worker.flavours import native_load
from callgate_worker.flavours.native_load import Plugin

_PREFIX = "callgate_functions_"
EVERYONE = ("code", "tool_calls", "remote", "plugins")


def load(source: Source, plugin_id: str) -> Plugin:
    loaded = Loaded(id=plugin_id, name=plugin_id, description="Functions of the operator")
    package = ModuleType(_PREFIX + "all")
    names: list[str] = []
    declarations = declare.of(package.__name__)
    plugin = Plugin(loaded, package, source.data, declarations)
    defined: dict[str, str] = {}
    for file in sorted(source.path.glob("*.py")):
        if file.name.startswith("_"):
            continue
        name = _PREFIX + file.stem
        native_load.clear(name)
        names.append(name)
        owner = declare.of(name)
        owner.plugin, owner.data = plugin_id, source.data
        try:
            module = native_load.bring_in(name, file, None)
        except (Exception, SystemExit) as error:
            native_load.clear(name)
            loaded.warnings.append(_reason(file, error))
            continue
        for method in _public(module, owner):
            if method.name in defined:
                text = f"'{method.name}' replaces the one of {defined[method.name]}"
                loaded.warnings.append(f"{native_load.place(method.function)}: {text}")
                loaded.methods = [spec for spec in loaded.methods if spec.name != method.name]
            defined[method.name] = file.name
            plugin.methods[method.name] = native_load.Function(method.function)
            loaded.methods.append(native_load.describe(method))
    plugin.modules = (package.__name__, *names)
    return plugin


def _public(module: ModuleType, owner: declare.Declarations) -> Iterator[Method]:
    """What the file itself defines, in its order; one that is declared keeps its declaration."""
    declared = {method.function: method for method in owner.methods}
    for name, function in vars(module).items():
        public = inspect.isfunction(function) and not name.startswith("_")
        if public and function.__module__ == module.__name__:
            method = declared.get(function)
            yield method or _plain(name, function)


def _plain(name: str, function: Callable[..., Any]) -> Method:
    return Method(
        function=function, name=name, kind="tool", title=name, effect="effectful",
        expose=EVERYONE, deadline=None,
    )


def _reason(file: Path, error: BaseException) -> str:
    """One line, with the line of the file where it went wrong."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"{file.name}:{error.lineno}: {type(error).__name__}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    line = next((frame.lineno for frame in reversed(frames) if frame.filename == str(file)), 1)
    print("".join(traceback.format_exception(error)), file=sys.stderr)
    return f"{file.name}:{line}: {type(error).__name__}: {error}"
