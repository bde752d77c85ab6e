"""What a plugin is and needs, found by reading it: nothing of it is imported or run.

`python -m callgate_worker.survey PATH...` prints one JSON list. It decides the flavour, collects
requirements, and asks `rules` what a reader should know. Standard library only.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from callgate_worker import manifest, rules

_FLAVOURS = {"nekro_agent": "nekro", "astrbot": "astrbot", "callgate": "native"}
_ENTRIES = ("__init__.py", "main.py", "plugin.py")
_SKIPPED = {"__pycache__", "tests", "test", "node_modules", "site-packages", "venv", "build"}
_MAX_FILES = 2_000

_NEEDS = {
    "nonebot.adapters.onebot": "OneBot",
    "nekro_agent.adapters.onebot_v11": "OneBot",
    "aiocqhttp": "OneBot",
    "astrbot.core.platform.sources.aiocqhttp": "OneBot",
    "qdrant_client": "Qdrant",
    "aiodocker": "Docker",
    "docker": "Docker",
    "playwright": "a browser (playwright)",
    "selenium": "a browser (selenium)",
}
_NEEDED_NAMES = {"get_onebot_v11_bot": "OneBot"}
# Compat(astrbot): packages that it ships, so that plugins do not name them, and that are too large for everybody.
_SHIPPED = {"astrbot": {"faiss": "faiss-cpu", "pypdf": "pypdf", "rank_bm25": "rank-bm25"}}


def survey(path: Path) -> dict[str, Any]:
    """Everything a host wants to know before it loads the plugin at `path`."""
    sources = list(_sources(path))
    about = manifest.read(path if path.is_dir() else path.parent, alone=path.is_file())
    about.setdefault("name", path.stem)
    found: dict[str, Any] = {"path": str(path), "flavour": None, **about}
    found.setdefault("requirements", [])
    found |= {"dynamic": [], "needs": [], "hints": []}
    found["warnings"] = about.get("warnings", [])
    found["errors"] = [] if path.exists() else [f"there is nothing at {path}"]
    trees: dict[Path, ast.Module] = {}
    broken: list[bytes] = []
    for source in sources:
        text = source.read_bytes()
        try:
            trees[source] = ast.parse(text, str(source))
        except (SyntaxError, ValueError) as error:
            broken.append(text)
            line = getattr(error, "lineno", None) or 1
            found["warnings"].append(f"{_place(source, path, line)}: cannot be parsed: {error}")
    nodes = {source: list(ast.walk(tree)) for source, tree in trees.items()}
    imports = {source: list(_imports(inner)) for source, inner in nodes.items()}
    found["flavour"] = _flavour(path, imports, about) or _told_by(broken)
    for inner in nodes.values():
        found["dynamic"] += [spec for spec in _dynamic(inner) if spec not in found["dynamic"]]
    found["requirements"] += _shipped(found, imports)
    found["needs"] = _needs(path, nodes, imports)
    judged = rules.judge(
        found["flavour"], {_place(source, path): tree for source, tree in trees.items()}
    )
    for key in ("warnings", "hints", "errors"):
        found[key] += judged[key]
    return found


def _sources(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    count = 0
    for folder in [path, *sorted(it for it in path.rglob("*") if it.is_dir())]:
        inside = folder.relative_to(path).parts
        if any(part in _SKIPPED or part.startswith(".") for part in inside):
            continue
        for source in sorted(folder.glob("*.py")):
            count += 1
            if count > _MAX_FILES:
                return
            yield source


def _place(source: Path, path: Path, line: int | None = None) -> str:
    root = path if path.is_dir() else path.parent
    name = source.relative_to(root).as_posix()
    return name if line is None else f"{name}:{line}"


def _told_by(texts: list[bytes]) -> str | None:
    """The flavour of files that are no Python, by their import lines."""
    for text in texts:
        if match := re.search(rb"^\s*(?:from|import)\s+(nekro_agent|astrbot|callgate)\b", text, re.M):
            return _FLAVOURS[match[1].decode()]
    return None


def _flavour(
    path: Path, imports: dict[Path, list[tuple[str, int]]], about: dict[str, Any]
) -> str | None:
    """By what the entry file imports, else most of the others, else the metadata."""
    entries = [path / name for name in _ENTRIES] if path.is_dir() else [path]
    counted: dict[str, int] = {}
    for source, names in imports.items():
        for module in {name.partition(".")[0] for name, _ in names}:
            if flavour := _FLAVOURS.get(module):
                weight = len(imports) + 1 if source in entries else 1
                counted[flavour] = counted.get(flavour, 0) + weight
    if counted:
        return max(counted, key=lambda flavour: counted[flavour])
    return "astrbot" if about.get("is_star") and (path / "main.py").is_file() else None


def _imports(nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    """Absolute imports, with names imported from a package as modules of it."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module, node.lineno
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def _dynamic(nodes: list[ast.AST]) -> Iterator[str]:
    """The literal requirements of `dynamic_import_pkg`."""
    for node in nodes:
        if not isinstance(node, ast.Call) or _called(node) != "dynamic_import_pkg":
            continue
        named = [word.value for word in node.keywords if word.arg == "package_spec"]
        for argument in [*node.args[:1], *named]:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _shipped(found: dict[str, Any], imports: dict[Path, list[tuple[str, int]]]) -> list[str]:
    """What its upstream would have had for it, unless it says so itself."""
    shipped = _SHIPPED.get(found["flavour"] or "", {})
    imported = {name.partition(".")[0] for names in imports.values() for name, _ in names}
    named = " ".join(found["requirements"]).lower().replace("_", "-")
    return [
        package
        for module, package in shipped.items()
        if module in imported and module.replace("_", "-") not in named
    ]


def _needs(
    path: Path,
    nodes: dict[Path, list[ast.AST]],
    imports: dict[Path, list[tuple[str, int]]],
) -> list[dict[str, str]]:
    """What must be there besides packages, each with the first place that says so."""
    found: dict[str, str] = {}
    for source, names in imports.items():
        for module, line in names:
            for prefix, need in _NEEDS.items():
                if module == prefix or module.startswith(prefix + "."):
                    found.setdefault(need, _place(source, path, line))
        for node in nodes[source]:
            if isinstance(node, ast.Call) and (need := _NEEDED_NAMES.get(_called(node))):
                found.setdefault(need, _place(source, path, node.lineno))
    return [{"what": what, "place": place} for what, place in found.items()]


def main(arguments: list[str]) -> None:
    json.dump([survey(Path(argument)) for argument in arguments], sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
