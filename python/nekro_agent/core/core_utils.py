"""Configuration objects: pydantic models kept in a file, shared by everybody who asks for them."""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar

import yaml
from pydantic import BaseModel, PrivateAttr, ValidationError

from nekro_agent.schemas.i18n import I18nDict

_T = TypeVar("_T")


class ArgTypes:
    """Values from the command line."""

    @staticmethod
    def _use_arg(arg_key: str, default: Any = None) -> Any:
        following = sys.argv[sys.argv.index(arg_key) + 1 :] if arg_key in sys.argv else []
        return following[0] if following else default

    @staticmethod
    def Str(key: str, default: str = "") -> str:
        return str(ArgTypes._use_arg(key, default))

    @staticmethod
    def Int(key: str, default: int = 0) -> int:
        return int(ArgTypes._use_arg(key, default))

    @staticmethod
    def Float(key: str, default: float = 0.0) -> float:
        return float(ArgTypes._use_arg(key, default))

    @staticmethod
    def Bool(key: str) -> bool:
        return key in sys.argv


class OsEnvTypes:
    """Values from environment variables named `NEKRO_<KEY>`."""

    @staticmethod
    def _use_env(key: str, default: _T | Callable[[], _T]) -> Any:
        found = os.environ.get(f"NEKRO_{key.upper()}")
        if found is not None:
            return found
        return default() if callable(default) else default

    @staticmethod
    def Str(key: str, default: str | Callable[[], str] = "") -> str:
        return str(OsEnvTypes._use_env(key, default))

    @staticmethod
    def Int(key: str, default: int | Callable[[], int] = 0) -> int:
        return int(OsEnvTypes._use_env(key, default))

    @staticmethod
    def Float(key: str, default: float | Callable[[], float] = 0.0) -> float:
        return float(OsEnvTypes._use_env(key, default))

    @staticmethod
    def Bool(key: str, default: bool | Callable[[], bool] = False) -> bool:
        return str(OsEnvTypes._use_env(key, default)).lower() == "true"


class ExtraField(BaseModel):
    """What a form should know of a setting, given as `json_schema_extra=ExtraField(...).model_dump()`."""

    is_hidden: bool = False
    is_secret: bool = False
    placeholder: str = ""
    is_textarea: bool = False
    ref_model_groups: bool = False
    ref_email_accounts_send_enabled: bool = False
    model_type: Literal["chat", "embedding", "draw"] = "chat"
    required: bool = False
    overridable: bool = False
    sub_item_name: str = "项目"
    load_to_sysenv: bool = False
    load_sysenv_as: str = ""
    load_to_nonebot_env: bool = False
    load_nbenv_as: str = ""
    is_need_restart: bool = False
    ref_presets: bool = False
    ref_presets_no_default: bool = False
    ref_presets_multiple: bool = False
    i18n_category: I18nDict | None = None
    i18n_title: I18nDict | None = None
    i18n_description: I18nDict | None = None


class ConfigManager:
    """All configuration objects of the process, by key."""

    _configs: ClassVar[dict[str, "ConfigBase"]] = {}

    @classmethod
    def register_config(cls, config_key: str, config_instance: "ConfigBase") -> None:
        cls._configs[config_key] = config_instance

    @classmethod
    def get_config(cls, config_key: str) -> "ConfigBase | None":
        return cls._configs.get(config_key)

    @classmethod
    def get_all_config_keys(cls) -> list[str]:
        return list(cls._configs)

    @classmethod
    def unregister_config(cls, config_key: str) -> None:
        cls._configs.pop(config_key, None)


class ConfigBase(BaseModel):
    """Settings of a plugin. There is one object per plugin, and it is changed in place."""

    _config_key: ClassVar[str | None] = None
    _config_file_path_class: ClassVar[Path | None] = None
    _config_file_path: Path | None = PrivateAttr(default=None)

    @classmethod
    def _generate_config_key(cls) -> str:
        name = cls.__name__.removesuffix("Config")
        return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()

    @classmethod
    def set_config_key(cls, config_key: str) -> None:
        cls._config_key = config_key

    @classmethod
    def get_config_key(cls) -> str:
        return cls._config_key or cls._generate_config_key()

    @classmethod
    def set_config_file_path(cls, file_path: Path) -> None:
        cls._config_file_path_class = file_path

    def get_config_file_path(self) -> Path | None:
        return self._config_file_path or type(self)._config_file_path_class

    def set_instance_config_file_path(self, file_path: Path) -> None:
        self._config_file_path = file_path

    @classmethod
    def load_config(cls, file_path: Path | None = None, auto_register: bool = True) -> Self:
        target = file_path or cls._config_file_path_class
        if target is None:
            raise ValueError(f"{cls.__name__} has no file: call set_config_file_path() or give file_path")
        instance = cls.load_from_path(Path(target))
        if auto_register:
            ConfigManager.register_config(cls.get_config_key(), instance)
        instance.load_config_to_env()
        return instance

    @classmethod
    def load_from_path(cls, path: Path) -> Self:
        """The settings in the file, or the defaults where there is none."""
        stored = _read(path) if path.exists() else {}
        try:
            instance = cls.model_validate(stored)
        except ValidationError as error:
            error.add_note(f"in {path}: correct it, or remove it to start from the defaults")
            raise
        instance.set_instance_config_file_path(path)
        return instance

    def load_config_to_env(self) -> None:
        for name, field in type(self).model_fields.items():
            extra = field.json_schema_extra
            if not isinstance(extra, dict):
                continue
            value = getattr(self, name)
            if extra.get("load_to_sysenv"):
                variable = str(extra.get("load_sysenv_as") or name)
                os.environ[variable] = json.dumps(value, default=str, ensure_ascii=False)
            if extra.get("load_to_nonebot_env"):
                _tell_nonebot(str(extra.get("load_nbenv_as") or name), value)

    def dump_config(self, file_path: Path | None = None) -> None:
        target = file_path or self.get_config_file_path()
        if target is None:
            raise ValueError(f"{type(self).__name__} has no file: give file_path")
        # As JSON: enumerations, paths and the like become what a reader of the file expects.
        _write(Path(target), self.model_dump(mode="json"))

    @classmethod
    def get_field_title(cls, field_name: str) -> str:
        field = cls.model_fields.get(field_name)
        return (field.title if field else None) or ""

    @classmethod
    def get_field_placeholder(cls, field_name: str) -> str:
        field = cls.model_fields.get(field_name)
        extra = field.json_schema_extra if field else None
        return str(extra.get("placeholder") or "") if isinstance(extra, dict) else ""


def _read(path: Path) -> Any:
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix in (".yaml", ".yml"):
        return yaml.safe_load(text) or {}
    raise ValueError(f"{path}: a configuration is a .yaml, .yml or .json file")


def preset(path: Path, values: dict[str, Any]) -> None:
    """Writes settings into the file before whoever owns them is there."""
    _write(path, {**(_read(path) if path.exists() else {}), **values})


def _write(path: Path, values: dict[str, Any]) -> None:
    """Whole or not at all: a crash must not leave half a file."""
    if path.suffix == ".json":
        text = json.dumps(values, indent=2, ensure_ascii=False)
    elif path.suffix in (".yaml", ".yml"):
        text = yaml.safe_dump(values, default_flow_style=False, sort_keys=False, allow_unicode=True)
    else:
        raise ValueError(f"{path}: a configuration is a .yaml, .yml or .json file")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _tell_nonebot(name: str, value: Any) -> None:
    try:
        import nonebot

        driver = nonebot.get_driver()
    except (ImportError, ValueError):
        return
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            pass
    setattr(driver.config, name, value)
