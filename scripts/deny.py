"""Holds the dependency tree to deny.toml, offline: licences, bans, doubled versions, sources.

Reads what cargo-deny reads, and refuses a setting that it does not enforce, so that deny.toml never
promises more than is checked. Needs the crates of this platform only, which a build has fetched.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
ENFORCED = {
    "graph": {"targets"},
    "licenses": {"allow"},
    "bans": {"multiple-versions", "wildcards", "allow-wildcard-paths", "deny", "skip"},
    "sources": {"unknown-registry", "unknown-git", "allow-registry"},
}
STRICT = {
    ("bans", "multiple-versions"): "deny",
    ("bans", "wildcards"): "deny",
    ("bans", "allow-wildcard-paths"): True,
    ("sources", "unknown-registry"): "deny",
    ("sources", "unknown-git"): "deny",
}


def main() -> int:
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    problems = list(unenforced(rules))
    for target in rules["graph"]["targets"]:
        packages = tree(target)
        problems += licences(packages, set(rules["licenses"]["allow"]))
        problems += banned(packages, rules["bans"]["deny"])
        problems += doubled(packages, rules["bans"]["skip"])
        problems += wildcards(packages)
        problems += sources(packages, rules["sources"]["allow-registry"])
    for problem in problems:
        print(f"deny.toml: {problem}", file=sys.stderr)
    return 1 if problems else 0


def tree(target: str) -> list[dict[str, Any]]:
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", target]
    answer = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    found = json.loads(answer.stdout)
    used = {node["id"] for node in found["resolve"]["nodes"]}
    return [package for package in found["packages"] if package["id"] in used]


def unenforced(rules: dict[str, dict[str, Any]]):
    for section, settings in rules.items():
        for name in settings.keys() - ENFORCED.get(section, set()):
            yield f"scripts/deny.py does not enforce [{section}] {name}"
    for (section, name), value in STRICT.items():
        if rules[section].get(name) != value:
            yield f"scripts/deny.py knows only {name} = {json.dumps(value)} in [{section}]"


def licences(packages: list[dict[str, Any]], allowed: set[str]):
    for package in packages:
        if not permitted(package["license"] or "none", allowed):
            yield f"{label(package)}: the licence {package['license']} is not allowed"


def permitted(expression: str, allowed: set[str]) -> bool:
    """An SPDX expression: `AND` binds closer than `OR`; the old `/` means `OR`."""
    expression = expression.replace("/", " OR ")
    words = re.findall(r"[()]|[^\s()]+(?:\s+WITH\s+[^\s()]+)?", expression)

    def either() -> bool:
        holds = both()
        while words and words[0] == "OR":
            words.pop(0)
            holds |= both()
        return holds

    def both() -> bool:
        holds = one()
        while words and words[0] == "AND":
            words.pop(0)
            holds &= one()
        return holds

    def one() -> bool:
        word = words.pop(0)
        if word != "(":
            return word in allowed
        holds = either()
        words.pop(0)
        return holds

    return either()


def banned(packages: list[dict[str, Any]], deny: list[dict[str, str]]):
    reasons = {rule["crate"]: rule["reason"] for rule in deny}
    for package in packages:
        if package["name"] in reasons:
            yield f"{label(package)} is banned: {reasons[package['name']]}"


def doubled(packages: list[dict[str, Any]], skip: list[dict[str, str]]):
    versions: dict[str, set[str]] = defaultdict(set)
    for package in packages:
        versions[package["name"]].add(label(package))
    doubles = set().union(*(found for found in versions.values() if len(found) > 1))
    for rule in skip:
        # A version here is its first numbers: `sha2@0.10` is every 0.10.
        excused = {double for double in doubles if f"{double}.".startswith(f"{rule['crate']}.")}
        if not excused:
            yield f"{rule['crate']} is skipped without need"
        for found in versions.values():
            found -= excused
    for found in versions.values():
        if len(found) > 1:
            yield f"more than one version: {', '.join(sorted(found))}"


def wildcards(packages: list[dict[str, Any]]):
    for package in packages:
        if package["source"] is None:
            for wanted in package["dependencies"]:
                if wanted["req"] == "*" and not wanted.get("path"):
                    yield f"{label(package)}: {wanted['name']} = \"*\""


def sources(packages: list[dict[str, Any]], registries: list[str]):
    allowed = {None, *(f"registry+{registry}" for registry in registries)}
    for package in packages:
        if package["source"] not in allowed:
            yield f"{label(package)} comes from {package['source']}"


def label(package: dict[str, Any]) -> str:
    return f"{package['name']}@{package['version']}"


if __name__ == "__main__":
    sys.exit(main())
