"""What a plugin says of itself in files: requirements.txt, metadata.yaml, pyproject.toml.

Reads them leniently, since published ones are often malformed; what cannot be used becomes a
warning. Nothing is installed here. Standard library only, hence a reader for simple YAML.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

_HOSTS = {"nekro-agent", "astrbot", "callgate", "python"}
"""What a plugin runs in is not a package to install."""
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")
_MAX_INCLUDES = 10


def read(folder: Path, *, alone: bool = False) -> dict[str, Any]:
    """Name, version, author, description, requirements and warnings, as far as they are told.

    `alone` is a plugin of one file: what lies beside it belongs to others.
    """
    about: dict[str, Any] = {"requirements": [], "warnings": []}
    if alone or not folder.is_dir():
        return about
    about |= _project(folder / "pyproject.toml", about)
    about |= _metadata(folder / "metadata.yaml", about)
    _requirements(folder / "requirements.txt", folder, about, _MAX_INCLUDES)
    about["requirements"] = list(dict.fromkeys(about["requirements"]))
    return about


def _add(about: dict[str, Any], requirement: str, place: str) -> None:
    name = _NAME.match(requirement)
    if name is None:
        about["warnings"].append(f"{place}: '{requirement}' is left out: not a package")
    elif name[0].lower().replace("_", "-") not in _HOSTS:
        about["requirements"].append(requirement)


def _requirements(file: Path, folder: Path, about: dict[str, Any], includes: int) -> None:
    text = _text(file, about)
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)#.*$", "", line).strip()
        place = f"{file.name}:{number}"
        if not line:
            continue
        option, _, value = line.partition(" ")
        if option in ("-r", "--requirement") and includes:
            included = (file.parent / value.strip()).resolve()
            if included.is_relative_to(folder.resolve()):
                _requirements(included, folder, about, includes - 1)
                continue
        if line.startswith("-"):
            about["warnings"].append(f"{place}: '{line}' is left out: an option of pip")
            continue
        _add(about, line, place)


def _project(file: Path, about: dict[str, Any]) -> dict[str, Any]:
    text = _text(file, about)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        about["warnings"].append(f"pyproject.toml: cannot be read: {error}")
        return {}
    project = document.get("project") or {}
    poetry = (document.get("tool") or {}).get("poetry") or {}
    for requirement in project.get("dependencies") or []:
        _add(about, str(requirement), "pyproject.toml")
    for name, wanted in (poetry.get("dependencies") or {}).items():
        _add(about, name + _poetry(wanted), "pyproject.toml")
    authors = project.get("authors") or poetry.get("authors") or []
    told = {
        "name": project.get("name") or poetry.get("name"),
        "version": project.get("version") or poetry.get("version"),
        "description": project.get("description") or poetry.get("description"),
        "author": _author(authors[0]) if authors else None,
    }
    return {key: str(value) for key, value in told.items() if value}


def _author(author: Any) -> str:
    return author.get("name", "") if isinstance(author, dict) else re.sub(r"\s*<.*>", "", author)


def _poetry(wanted: Any) -> str:
    """Poetry's constraint in the words of pip; the upper bound of `^` is only a habit."""
    version = wanted.get("version", "") if isinstance(wanted, dict) else str(wanted)
    version = version.strip()
    if version in ("", "*"):
        return ""
    if version[0] in "^~" and not version.startswith("~="):
        return ">=" + version[1:].lstrip("=")
    return version if version[0] in "<>=!~" else f"=={version}"


def _metadata(file: Path, about: dict[str, Any]) -> dict[str, Any]:
    """AstrBot's; its presence tells the flavour where the imports do not."""
    text = _text(file, about)
    if not text:
        return {}
    told = scalars(text)
    for requirement in told.get("requirements", []):
        _add(about, requirement, "metadata.yaml")
    keys = {"name": "name", "version": "version", "author": "author", "desc": "description",
            "description": "description"}
    named = {keys[key]: value for key, value in told.items() if key in keys and value and isinstance(value, str)}
    return {**named, "is_star": True}


def scalars(text: str) -> dict[str, Any]:
    """The top level of a YAML document: `key: value`, texts of several lines, and lists of `- value` below a
    key."""
    found: dict[str, Any] = {}
    key, block = "", False
    for line in text.splitlines():
        if block and (not line.strip() or line[0].isspace()):
            found[key] = f"{found[key]}\n{line.strip()}".strip()
            continue
        entry = re.match(r"^([A-Za-z_][\w-]*)\s*:\s*(.*)$", line)
        item = re.match(r"^\s*-\s+(.*)$", line)
        if entry:
            key, value = entry[1], _scalar(entry[2])
            block = re.fullmatch(r"[|>][+-]?\d?", value) is not None
            found[key] = "" if block else value
            if value.startswith("[") and value.endswith("]"):
                found[key] = [_scalar(part) for part in value[1:-1].split(",") if part.strip()]
        elif item and key:
            if not isinstance(found.get(key), list):
                found[key] = []
            found[key].append(_scalar(item[1]))
    return found


def _scalar(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] in "\"'" and (end := text.find(text[0], 1)) > 0:
        return text[1:end]
    return re.sub(r"\s+#.*$", "", text)


def _text(file: Path, about: dict[str, Any]) -> str:
    try:
        raw = file.read_bytes()
    except OSError:
        return ""
    for encoding in ("utf-8-sig", "utf-16", "gb18030"):
        try:
            # Tools on Windows write requirements.txt as UTF-16.
            return raw.decode(encoding)
        except UnicodeError:
            continue
    about["warnings"].append(f"{file.name}: cannot be read: not text")
    return ""
