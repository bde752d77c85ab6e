"""One table of what was done and what was found, and the verdict."""

import json
from dataclasses import dataclass, field

from .checks import Found


@dataclass
class Phase:
    """A run on one engine with so many instances."""

    name: str
    counts: dict[str, float] = field(default_factory=dict)
    found: Found = field(default_factory=Found)


def table(phases: list[Phase]) -> str:
    names = list(dict.fromkeys(name for phase in phases for name in phase.counts))
    checks = list(dict.fromkeys(name for phase in phases for name in phase.found.broken))
    rows = [["", *(phase.name for phase in phases), "all"]]
    for name in names:
        values = [phase.counts.get(name) for phase in phases]
        total = _total(name, [value for value in values if value is not None])
        rows.append([name, *(_number(value) for value in values), _number(total)])
    for check in checks:
        broken = [phase.found.broken.get(check) for phase in phases]
        total = sum(len(wrong) for wrong in broken if wrong)
        rows.append([check, *(_verdict(wrong) for wrong in broken), _verdict([""] * total)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _total(name: str, values: list[float]) -> float:
    return max(values) if name.startswith("longest") else sum(values)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value == int(value) else f"{value:.1f}"


def _verdict(wrong: list[str] | None) -> str:
    if wrong is None:
        return ""
    return "held" if not wrong else f"BROKEN {len(wrong)}"


def total(phases: list[Phase], name: str) -> float:
    return sum(phase.counts.get(name, 0) for phase in phases)


def missed(phases: list[Phase], least: dict[str, int]) -> list[str]:
    """A run that did too little shows nothing."""
    return [f"{name}: {total(phases, name):.0f} of at least {count}" for name, count in least.items()
            if total(phases, name) < count]  # fmt: skip


def broken(phases: list[Phase]) -> list[str]:
    return [
        f"{phase.name}: {check}: {one}"
        for phase in phases
        for check, wrong in phase.found.broken.items()
        for one in wrong
    ]


def as_json(seed: int, phases: list[Phase]) -> str:
    shown = [{"name": phase.name, "counts": phase.counts, "broken": phase.found.broken} for phase in phases]
    return json.dumps({"seed": seed, "phases": shown, "clean": not broken(phases)}, indent=2)
