"""Configurations as lists of fields: what a form shows, and what it sends back."""

import inspect
import json
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from nekro_agent.core.core_utils import ConfigBase, ConfigManager, ExtraField

_NAMES = {str: "str", int: "int", float: "float", bool: "bool", list: "list", dict: "dict"}
_MARKS = tuple(ExtraField.model_fields)


def _type_of(annotation: Any, value: Any) -> dict[str, Any]:
    if get_origin(annotation) in (Union, UnionType):
        options = [option for option in get_args(annotation) if option is not NoneType]
        annotation = options[0] if options else str
    origin, inner = get_origin(annotation), get_args(annotation)
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return {"type": "object", "is_complex": True, "field_schema": _fields_of(annotation)}
    if origin in (list, dict) and inner:
        return _container(origin, inner)
    if origin is Literal:
        shown = value if value is not None else inner[0]
        return {"type": _NAMES.get(type(shown), "str"), "enum": list(inner)}
    return {"type": _NAMES.get(annotation) or _NAMES.get(type(value), "str")}


def _container(origin: type, inner: tuple[Any, ...]) -> dict[str, Any]:
    item = inner[-1]
    is_model = inspect.isclass(item) and issubclass(item, BaseModel)
    word = "object" if is_model else _NAMES.get(get_origin(item) or item, "str")
    told: dict[str, Any] = {"type": _NAMES[origin], "is_complex": is_model}
    if origin is dict:
        told |= {"key_type": _NAMES.get(inner[0], "str"), "value_type": word}
    else:
        told["element_type"] = word
    return {**told, "field_schema": _fields_of(cast(type[BaseModel], item))} if is_model else told


def _fields_of(model: type[BaseModel]) -> dict[str, Any]:
    return {
        name: {
            **_type_of(field.annotation, field.get_default(call_default_factory=True)),
            "title": field.title or name,
            "description": field.description or "",
            "default": _plain(field.get_default(call_default_factory=True)),
            "required": field.is_required(),
            **_marks(field),
        }
        for name, field in model.model_fields.items()
    }


def _marks(field: FieldInfo) -> dict[str, Any]:
    extra = field.json_schema_extra
    return {name: extra[name] for name in _MARKS if extra.get(name)} if isinstance(extra, dict) else {}


def _plain(value: Any) -> Any:
    if value.__class__.__name__ == "PydanticUndefinedType":
        return None
    return json.loads(TypeAdapter(Any).dump_json(value))


class ConfigService:
    """Of a configuration object at hand."""

    @staticmethod
    def get_config_list(config_obj: ConfigBase) -> list[dict[str, Any]]:
        fields = type(config_obj).model_fields
        return [it for name in fields if (it := ConfigService.get_config_item(config_obj, name))]

    @staticmethod
    def get_config_item(config_obj: ConfigBase, key: str) -> dict[str, Any] | None:
        field = type(config_obj).model_fields.get(key)
        if field is None:
            return None
        value = getattr(config_obj, key)
        bounds = {
            word: getattr(mark, word)
            for mark in field.metadata
            for word in ("ge", "le", "gt", "lt")
            if getattr(mark, word, None) is not None
        }
        return {
            "key": key,
            "value": _plain(value),
            "is_complex": False,
            **_type_of(field.annotation, value),
            "title": field.title or key,
            "description": field.description or "",
            "placeholder": type(config_obj).get_field_placeholder(key),
            **bounds,
            **_marks(field),
        }

    @staticmethod
    def set_config_value(config_obj: ConfigBase, key: str, value: Any) -> tuple[bool, str]:
        """From a form: texts are read as the field's type. (False, why) where they cannot be."""
        field = type(config_obj).model_fields.get(key)
        if field is None:
            return False, f"there is no setting '{key}'"
        kind = _type_of(field.annotation, getattr(config_obj, key))["type"]
        try:
            if isinstance(value, str) and kind in ("list", "dict", "object"):
                value = json.loads(value)
            checked: Any = type(config_obj).__pydantic_validator__.validate_assignment(
                config_obj.model_copy(), key, value
            )
        except json.JSONDecodeError as error:
            return False, f"{key}: not JSON: {error}"
        except ValidationError as error:
            return False, f"{key}: {error.errors()[0]['msg']}"
        setattr(config_obj, key, getattr(checked, key) if isinstance(checked, BaseModel) else checked[0][key])
        return True, ""

    @staticmethod
    def batch_update_config(config_obj: ConfigBase, configs: dict[str, Any]) -> tuple[bool, str | None]:
        """All or none."""
        trial = config_obj.model_copy(deep=True)
        for key, value in configs.items():
            done, reason = ConfigService.set_config_value(trial, key, value)
            if not done:
                return False, reason
        for key in configs:
            setattr(config_obj, key, getattr(trial, key))
        return True, None

    @staticmethod
    def save_config(config_obj: ConfigBase, file_path: Path | None = None) -> tuple[bool, str | None]:
        try:
            config_obj.dump_config(file_path)
        except (OSError, ValueError) as error:
            return False, str(error)
        return True, None


class UnifiedConfigService:
    """The same by the key of a configuration."""

    @staticmethod
    def _of(config_key: str) -> ConfigBase:
        found = ConfigManager.get_config(config_key)
        if found is None:
            raise KeyError(f"there is no configuration '{config_key}'")
        return found

    @staticmethod
    def get_config_list(config_key: str) -> list[dict[str, Any]]:
        return ConfigService.get_config_list(UnifiedConfigService._of(config_key))

    @staticmethod
    def get_config_item(config_key: str, item_key: str) -> dict[str, Any] | None:
        return ConfigService.get_config_item(UnifiedConfigService._of(config_key), item_key)

    @staticmethod
    def set_config_value(config_key: str, item_key: str, value: Any) -> tuple[bool, str]:
        return ConfigService.set_config_value(UnifiedConfigService._of(config_key), item_key, value)

    @staticmethod
    def batch_update_config(config_key: str, configs: dict[str, Any]) -> tuple[bool, str | None]:
        return ConfigService.batch_update_config(UnifiedConfigService._of(config_key), configs)

    @staticmethod
    def save_config(config_key: str, file_path: Path | None = None) -> tuple[bool, str | None]:
        return ConfigService.save_config(UnifiedConfigService._of(config_key), file_path)

    @staticmethod
    def get_all_config_keys() -> list[str]:
        return ConfigManager.get_all_config_keys()


unified_config_service = UnifiedConfigService()
