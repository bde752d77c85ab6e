"""A dictionary kept in a JSON file: defaults filled in, unknown keys dropped, attributes read keys."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import os
import tempfile
import threading
from typing import Any

from astrbot import texts
from astrbot.core.utils.astrbot_path import get_astrbot_data_path

from .default import DEFAULT_CONFIG, DEFAULT_VALUE_MAP

ASTRBOT_CONFIG_PATH = os.path.join(get_astrbot_data_path(), "cmd_config.json")
logger = logging.getLogger("astrbot")


class AstrBotConfig(dict):
    config_path: str
    default_config: dict
    schema: dict | None

    def __init__(
        self,
        config_path: str = ASTRBOT_CONFIG_PATH,
        default_config: dict = DEFAULT_CONFIG,
        schema: dict | None = None,
    ) -> None:
        super().__init__()
        for name, value in {
            "config_path": config_path,
            "default_config": default_config,
            "schema": schema,
            "_writing": threading.Lock(),
            "_revision": 0,
            "_written": 0,
        }.items():
            object.__setattr__(self, name, value)
        reference = copy.deepcopy(default_config if schema is None else defaults_of(schema))
        if not self.check_exist():
            self.update(reference)
            self.save_config(indent=4)
            object.__setattr__(self, "first_deploy", True)
        with open(config_path, encoding="utf-8-sig") as file:
            stored = json.loads(file.read().lstrip("\ufeff"))
        changed = self.check_config_integrity(reference, stored)
        self.clear()
        self.update(stored)
        if changed:
            self.save_config()

    def check_exist(self) -> bool:
        return bool(self.config_path) and os.path.exists(self.config_path)

    def check_config_integrity(self, refer_conf: dict, conf: dict, path: str = "") -> bool:
        """Makes `conf` have exactly the keys of `refer_conf`, in its order; True when something changed."""
        before = list(conf)
        fitted: dict = {}
        changed = False
        for key, default in refer_conf.items():
            value = conf.get(key)
            if value is None or (isinstance(default, dict) and not isinstance(value, dict)):
                fitted[key] = default
                changed = changed or key not in conf or value != default
            else:
                fitted[key] = value
                # An empty default is an open dictionary (type `dict`), not a fixed set of keys.
                if isinstance(default, dict) and default:
                    changed |= self.check_config_integrity(default, value, f"{path}.{key}")
        for key in before:
            if key not in refer_conf:
                logger.info("configuration key %s.%s is not in the schema and was dropped", path, key)
        conf.clear()
        conf.update(fitted)
        return changed or before != list(fitted)

    def save_config(self, replace_config: dict | None = None, *, indent: int = 2) -> None:
        self._write(*self._snapshot(replace_config), indent)

    async def save_config_async(self, replace_config: dict | None = None, *, indent: int = 2) -> bool:
        return await asyncio.to_thread(self._write, *self._snapshot(replace_config), indent)

    def _snapshot(self, replace_config: dict | None) -> tuple[dict, int]:
        with self._writing:
            if replace_config:
                self.update(replace_config)
            object.__setattr__(self, "_revision", self._revision + 1)
            return copy.deepcopy(dict(self)), self._revision

    def _write(self, values: dict, revision: int, indent: int) -> bool:
        folder = os.path.dirname(os.path.abspath(self.config_path))
        os.makedirs(folder, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8-sig") as file:
            json.dump(values, file, indent=indent, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        with self._writing:
            if revision <= self._written:
                os.unlink(temporary)
                return False
            os.replace(temporary, self.config_path)
            object.__setattr__(self, "_written", revision)
            return True

    def __getattr__(self, item: str) -> Any:
        # Compat(astrbot): a missing key reads as None; dunder lookups must still fail for copy and pickle.
        if item.startswith("__"):
            raise AttributeError(item)
        return self.get(item)

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value

    def __delattr__(self, key: str) -> None:
        if key not in self:
            raise AttributeError(texts.CONFIG_KEY_MISSING.format(key=key))
        del self[key]
        self.save_config()


def defaults_of(schema: dict) -> dict:
    """The values a `_conf_schema.json` starts with."""
    values: dict = {}
    for key, item in schema.items():
        kind = item["type"]
        if kind not in DEFAULT_VALUE_MAP:
            raise TypeError(texts.CONFIG_TYPE.format(type=kind, known=DEFAULT_VALUE_MAP.keys()))
        if kind == "object":
            values[key] = defaults_of(item["items"])
        else:
            values[key] = copy.deepcopy(item.get("default", DEFAULT_VALUE_MAP[kind]))
    return values
