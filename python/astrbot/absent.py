"""Modules of AstrBot that this host does not have, so that importing them is no reason to fail.

Plugins import adapters and internals for type hints and `isinstance`. `absent_names` says what those
modules hold upstream: classes that no object here is an instance of, functions that say what is missing when
called, constants that are empty. A name that upstream does not have either is an ImportError, so that plugins' own fallbacks work."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import logging
import sys
from types import ModuleType
from typing import Any, NoReturn

from astrbot.absent_names import NAMES


class _Absent(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.__dict__.get("_absent"):
            _refuse(cls.__module__, cls.__name__)
        return super().__call__(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _function(cls.__module__, f"{cls.__name__}.{name}")

    def __setattr__(cls, name: str, value: Any) -> None:
        if cls.__dict__.get("_absent"):
            where = f"{cls.__module__}.{cls.__name__}.{name}"
            logging.getLogger("astrbot.author").warning("%s is replaced by a plugin: that has no effect here", where)
        super().__setattr__(name, value)


def _refuse(module: str, name: str) -> NoReturn:
    from astrbot.core.exceptions import NotAvailableError

    raise NotAvailableError(f"{module}.{name} is part of AstrBot's own machinery and is not offered here")


def _function(module: str, name: str) -> Any:
    def absent(*_: Any, **__: Any) -> NoReturn:
        _refuse(module, name)

    absent.__module__, absent.__name__, absent.__qualname__ = module, name, name
    return absent


def _table() -> dict[str, list[str]]:
    table = {
        f"astrbot.{words[0]}": words[1:]
        for words in map(str.split, NAMES.replace("\n ", " ").splitlines())
        if words
    }
    for module in list(table):
        while module := module.rpartition(".")[0]:
            table.setdefault(module, [])
    return table


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self) -> None:
        self._names = _table()

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self._names:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        for name in self._names[module.__name__]:
            if name.endswith("()"):
                setattr(module, name[:-2], _function(module.__name__, name[:-2]))
            elif name.endswith("="):
                setattr(module, name[:-1], {})
            else:
                setattr(module, name, _Absent(name, (), {"__module__": module.__name__, "_absent": True}))


def install() -> None:
    """Asked last: whatever really exists is found before."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
