"""From a folder or file to an imported module, and back.

Compat(nekro): a plugin is the module `packages.<name>`, so relative imports work, and its module has
an attribute `plugin`.
"""

import importlib
import importlib.util
import sys
import types
from collections.abc import Iterator
from pathlib import Path

from nekro_agent.services.plugin.base import NekroPlugin

_PACKAGE = "packages"
_ENTRIES = ("__init__.py", "plugin.py")
_SKIPPED = {"tests", "test", "docs", "node_modules", "venv", "build", "scripts"}
_DEEPEST = 3


class NotAPlugin(ImportError):
    """The place holds nothing that could be loaded."""


def locate(path: Path) -> Path:
    """The file to import: the place itself, or the one plugin somewhere below it."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise NotAPlugin(f"there is nothing at {path}")
    entry = _entry(path)
    if entry is not None:
        return entry
    found = list(_below(path, _DEEPEST))
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(str(it.relative_to(path)) for it in found)
        raise NotAPlugin(f"{path} holds several plugins; name one of them: {names}")
    raise NotAPlugin(f"{path} has no __init__.py and no plugin.py that makes a NekroPlugin")


def _entry(folder: Path) -> Path | None:
    for name in _ENTRIES:
        if (folder / name).is_file():
            return folder / name
    return None


def _below(folder: Path, depth: int) -> Iterator[Path]:
    """Packages, and files of their own, that make a NekroPlugin."""
    for inner in sorted(folder.iterdir()):
        if inner.name in _SKIPPED or inner.name.startswith((".", "_")):
            continue
        if inner.suffix == ".py" and b"NekroPlugin(" in inner.read_bytes():
            yield inner
        elif inner.is_dir():
            entry = _entry(inner)
            if entry is not None and _makes_a_plugin(inner):
                yield entry
            elif depth > 1:
                yield from _below(inner, depth - 1)


def _makes_a_plugin(folder: Path) -> bool:
    files = [folder / name for name in _ENTRIES if (folder / name).is_file()]
    return any(b"NekroPlugin(" in file.read_bytes() for file in files)


def module_name(entry: Path) -> str:
    is_package = entry.name in _ENTRIES
    return f"{_PACKAGE}.{entry.parent.name if is_package else entry.stem}"


def mentions(entry: Path, word: bytes) -> bool:
    files = entry.parent.rglob("*.py") if entry.name in _ENTRIES else [entry]
    return any(word in file.read_bytes() for file in files)


def load(entry: Path) -> types.ModuleType:
    """Imports afresh. What a failed import leaves behind is removed."""
    name = module_name(entry)
    forget(name, entry)
    importlib.invalidate_caches()
    _namespace()
    inside = [str(entry.parent)] if entry.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, entry, submodule_search_locations=inside)
    if spec is None or spec.loader is None:
        raise NotAPlugin(f"{entry} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        forget(name, entry)
        raise
    setattr(sys.modules[_PACKAGE], name.partition(".")[2], module)
    return module


def plugin_of(module: types.ModuleType) -> NekroPlugin:
    found = getattr(module, "plugin", None)
    if isinstance(found, types.ModuleType):
        # `from . import plugin` names the submodule, which holds the object.
        found = getattr(found, "plugin", None)
    if not isinstance(found, NekroPlugin):
        raise NotAPlugin(f"{module.__file__} has no attribute 'plugin' that is a NekroPlugin")
    found._set_module(module)
    return found


def forget(name: str, entry: Path) -> None:
    """Every module of the plugin, however it was imported: the next import reads the files again."""
    folder = str(entry.parent) + "/" if entry.name in _ENTRIES else str(entry)
    for known, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if known == name or known.startswith(f"{name}.") or file.startswith(folder):
            del sys.modules[known]
            # A file that changed twice within a second would be taken for the same.
            if cached := getattr(module, "__cached__", None):
                Path(cached).unlink(missing_ok=True)


def _namespace() -> None:
    if _PACKAGE not in sys.modules:
        made = types.ModuleType(_PACKAGE)
        made.__path__ = []
        sys.modules[_PACKAGE] = made
