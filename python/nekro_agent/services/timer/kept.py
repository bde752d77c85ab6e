"""A small JSON file that is read once and written whole."""

import json
from pathlib import Path
from typing import Any

from nekro_agent.core.os_env import TIMER_SYSTEM_DIR


class Kept:
    """Rows in a file of the worker's own folder; they outlive the worker."""

    def __init__(self, name: str) -> None:
        self._path = Path(TIMER_SYSTEM_DIR) / name

    def read(self) -> list[dict[str, Any]]:
        try:
            rows = json.loads(self._path.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return []
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    def write(self, rows: list[dict[str, Any]]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._path.with_suffix(".new")
        unfinished.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        unfinished.replace(self._path)
