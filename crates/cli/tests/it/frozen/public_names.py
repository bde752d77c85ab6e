"""Lists what can be imported from the packages below the given folder: one line per module.

Modules that exist for our own use are left out. A name is public if `__all__` has it; where there is no `__all__`, if it is defined there without a
leading underscore. A package's `__init__.py` and everything below `api` also offers what it imports
from its own package.
"""

import ast
import re
import sys
from pathlib import Path

PACKAGES = ("callgate", "nekro_agent", "astrbot")
INTERNAL = re.compile(
    r"callgate\..*|astrbot\.(texts|absent|absent_names)"
    r"|nekro_agent\.(texts|absent|chat_keys|folders|parts)"
)


def assigned(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Tuple | ast.List):
        return [name for element in target.elts for name in assigned(element)]
    return [target.id] if isinstance(target, ast.Name) else []


def names(node: ast.stmt, imports: bool) -> list[str]:
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return [node.name]
        case ast.Assign():
            return [name for target in node.targets for name in assigned(target)]
        case ast.AnnAssign():
            return assigned(node.target)
        case ast.ImportFrom() if imports and (node.level or str(node.module).startswith(PACKAGES)):
            return [alias.asname or alias.name for alias in node.names]
        case ast.If() | ast.Try():
            return [name for inner in node.body for name in names(inner, imports)]
    return []


def public(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and assigned(node.targets[0]) == ["__all__"]:
            if isinstance(node.value, ast.List | ast.Tuple):
                return sorted(ast.literal_eval(node.value))
    imports = path.name == "__init__.py" or "api" in path.parts
    found = {name for node in tree.body for name in names(node, imports)}
    return sorted(name for name in found if not name.startswith("_") and name != "absent")


folder = Path(sys.argv[1])
for package in PACKAGES:
    for path in sorted((folder / package).rglob("*.py")):
        module = ".".join(path.relative_to(folder).with_suffix("").parts)
        module = module.removesuffix(".__init__")
        if not INTERNAL.fullmatch(module):
            print(f"{module}: {' '.join(public(path))}".rstrip())
