"""Compat(astrbot): configuration files of AstrBot 3.4, still used by old plugins."""

from __future__ import annotations

import json
import os
from typing import Any

from astrbot.core.utils.astrbot_path import get_astrbot_data_path


def _path(namespace: str) -> str:
    return os.path.join(get_astrbot_data_path(), "config", f"{namespace}.json")


def _write(path: str, values: dict) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8-sig") as file:
        json.dump(values, file, indent=2, ensure_ascii=False)


def load_config(namespace: str) -> dict | bool:
    if not os.path.exists(_path(namespace)):
        return False
    with open(_path(namespace), encoding="utf-8-sig") as file:
        return {key: item["value"] for key, item in json.load(file).items()}


def put_config(namespace: str, name: str, key: str, value: Any, description: str) -> None:
    if not namespace or namespace.startswith("internal_"):
        raise ValueError("namespace must not be empty or start with internal_")
    if not isinstance(key, str) or not isinstance(value, str | int | float | bool | list):
        raise ValueError("key must be str; value must be str, int, float, bool or list")
    path = _path(namespace)
    values = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8-sig") as file:
            values = json.load(file)
    if key not in values:
        values[key] = {
            "config_type": "item",
            "name": name,
            "description": description,
            "path": key,
            "value": value,
            "val_type": type(value).__name__,
        }
        _write(path, values)


def update_config(namespace: str, key: str, value: Any) -> None:
    with open(_path(namespace), encoding="utf-8-sig") as file:
        values = json.load(file)
    if key not in values:
        raise KeyError(key)
    values[key]["value"] = value
    _write(_path(namespace), values)
