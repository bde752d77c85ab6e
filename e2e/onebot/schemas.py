"""Events and actions against what is known of NapCat: its own sources where NAPCAT names them, otherwise the types of an
npm package that its users wrote."""

import json
import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .hour import Entry

_FOLDER = Path(__file__).parent / "schemas"

_ONEBOT = "OneBot v11 has it so, or another implementation"
_NOT_THERE = "NapCat does not report it"
EXPLAINED = {
    # By the npm package.
    "face": _ONEBOT, "face, number": _ONEBOT, "image, flash": _ONEBOT, "image, sticker": _ONEBOT, "at, number": _ONEBOT,
    "record, magic": _ONEBOT, "rps, number": _ONEBOT, "poke, number": _ONEBOT, "numbers as words": _ONEBOT,
    "image, market face": "the package has a sub type there, NapCat has none",
    "forward with its messages": "the package has segments there, NapCat has messages",
    "a sender with little": _ONEBOT,
    "send_group_forward_msg": "the package says message, everybody else messages",
    "send_private_forward_msg": "the package says message, everybody else messages",
    # By NapCat's sources.
    "shake": _NOT_THERE, "shake without data": _NOT_THERE, "shake with null": _NOT_THERE, "anonymous": _NOT_THERE,
    "share": _NOT_THERE, "music, custom": "NapCat takes it and does not report it", "node": _NOT_THERE,
    "lightapp": _NOT_THERE, "keyboard": _NOT_THERE, "a kind nobody knows": _NOT_THERE, "a name with points": _NOT_THERE,
    "OB11OnlineFileReceiveEvent": "its words are in its constructor, where they are not looked for",
    "said anonymously": _NOT_THERE, "a notice among messages": _NOT_THERE, "other": _NOT_THERE,
}  # fmt: skip
"""By what a label ends with after its colon."""


@dataclass(frozen=True)
class Report:
    checked: int
    found: dict[str, list[str]]
    """Label: what is wrong."""
    untyped: list[str]
    """What is not known there."""
    missing: list[str]
    """What is known there, and was not among what was checked."""

    def unexplained(self) -> dict[str, list[str]]:
        return {label: words for label, words in self.found.items() if label.split(": ", 1)[-1] not in EXPLAINED}


def check(entries: Iterable[Entry], actions: Iterable[tuple[str, dict[str, Any]]] = ()) -> Report:
    lines: list[dict[str, Any]] = [{"label": entry.label, "event": entry.event} for entry in entries]
    lines += [{"label": f"action: {name}", "action": name, "params": params} for name, params in actions]
    words = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    done = subprocess.run(
        ["node", _FOLDER / "check.mjs"], input=words, stdout=subprocess.PIPE, text=True, check=True, env=os.environ
    )
    return Report(**json.loads(done.stdout))
