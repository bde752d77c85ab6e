"""`config`: a plugin's settings as a typed class, kept in a file its operator can edit.

The file is `config.toml`, `.yaml` or `.json` in the plugin's folder, whichever is there. A value
that does not fit its annotation is refused by name and the default used instead.
"""

import dataclasses
import json
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from callgate import declare

T = TypeVar("T")
_NAMES = ("config.toml", "config.yaml", "config.yml", "config.json")


def config(settings: type[T]) -> T:
    """The live settings of the calling plugin: `settings = config(Settings)`.

    Args:
        settings: A class with annotated fields that all have defaults; it becomes a dataclass.
    """
    owner = declare.of(settings.__module__)
    if not dataclasses.is_dataclass(settings):
        settings = dataclasses.dataclass(settings)
    live = settings()
    owner.config = live
    for problem in load(live, owner.data):
        print(f"config: {problem}")
    return live


def load(live: Any, folder: Path | None) -> list[str]:
    """Takes over what the file in `folder` says; returns what it could not take over."""
    file = find(folder)
    if file is None or not file.is_file():
        return []
    try:
        return take(live, read(file))
    except (ValueError, OSError) as error:
        return [f"{file.name} cannot be read: {error}"]


def take(live: Any, values: dict[str, Any]) -> list[str]:
    """Puts `values` into the live object, each converted to what its field is annotated with."""
    from callgate_worker import convert, signature

    hints = signature.annotations(type(live))
    known = {field.name for field in dataclasses.fields(live)}
    problems = []
    for name, value in values.items():
        if name not in known:
            problems.append(f"'{name}' is not a setting; they are {', '.join(sorted(known))}")
            continue
        try:
            setattr(live, name, convert.convert(value, hints.get(name, Any), name))
        except ValueError as error:
            problems.append(str(error))
    return problems


def find(folder: Path | None) -> Path | None:
    """The file that is there, else the one that would be made."""
    if folder is None:
        return None
    return next((folder / name for name in _NAMES if (folder / name).is_file()), folder / _NAMES[0])


def read(file: Path) -> dict[str, Any]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".toml":
        return tomllib.loads(text)
    values = json.loads(text) if file.suffix == ".json" else _yaml().safe_load(text) or {}
    if not isinstance(values, dict):
        raise ValueError("it is not a table of names and values")
    return values


def save(live: Any, folder: Path) -> None:
    """Writes all settings, in the format of the file that is there."""
    from callgate_worker import convert

    file = find(folder)
    assert file is not None
    values = convert.plain(live)
    if file.suffix == ".toml":
        text = "".join(_toml(values))
    elif file.suffix == ".json":
        text = json.dumps(values, ensure_ascii=False, indent=2) + "\n"
    else:
        text = _yaml().safe_dump(values, allow_unicode=True, sort_keys=False)
    beside = file.with_name(file.name + ".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)


def _yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise ValueError("YAML needs the package pyyaml; or write config.toml") from None
    return yaml


def _toml(values: dict[str, Any], table: str = ""):
    """What `tomllib` reads back; null has no form there, so such a setting is left out."""
    tables = {name: value for name, value in values.items() if isinstance(value, dict)}
    for name, value in values.items():
        if name not in tables and value is not None:
            yield f"{_key(name)} = {_value(value)}\n"
    for name, inner in tables.items():
        path = f"{table}.{_key(name)}" if table else _key(name)
        yield f"\n[{path}]\n"
        yield from _toml(inner, path)


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("-", "_").isidentifier()
    return name if bare else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value if item is not None)}]"
    if isinstance(value, dict):
        inner = (f"{_key(name)} = {_value(item)}" for name, item in value.items())
        return f"{{ {', '.join(inner)} }}"
    if isinstance(value, float):
        return repr(value)
    # Strings, integers and booleans are written as JSON writes them.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
