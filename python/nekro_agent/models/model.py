"""A row with Nekro's columns. Changes go to the host when it is saved."""

import json
from datetime import datetime
from enum import Enum
from typing import Any, ClassVar, Self

from nekro_agent import platforms
from nekro_agent.models.errors import DoesNotExist, error
from nekro_agent.models.query import One, Query



class Model:
    """Base of all models. `COLUMNS` names the columns and their types, `DEFAULTS` what may be left out."""

    TABLE: ClassVar[str]
    COLUMNS: ClassVar[dict[str, type]]
    DEFAULTS: ClassVar[dict[str, Any]] = {}

    def __init__(self, **values: Any) -> None:
        unknown = next((name for name in values if name not in self.COLUMNS and name != "pk"), None)
        if unknown is not None:
            raise TypeError(f"{type(self).__name__} has no column '{unknown}'")
        for name in self.COLUMNS:
            default = self.DEFAULTS.get(name)
            setattr(self, name, values.get(name, default() if callable(default) else default))
        self._stored: dict[str, Any] = {}

    @property
    def pk(self) -> Any:
        return self.id

    @classmethod
    def from_store(cls, row: dict[str, Any]) -> Self:
        instance = cls(**{name: _read(row.get(name), kind) for name, kind in cls.COLUMNS.items()})
        if "adapter_key" in cls.COLUMNS and row.get("adapter_key"):
            instance.adapter_key = platforms.adapter_key(row["adapter_key"])
        instance._stored = instance._snapshot()
        return instance

    @classmethod
    def to_store(cls, values: dict[str, Any]) -> dict[str, Any]:
        unknown = next((name for name in values if name not in cls.COLUMNS), None)
        if unknown is not None:
            raise TypeError(f"{cls.__name__} has no column '{unknown}'")
        return {name: _written(value, cls.COLUMNS[name]) for name, value in values.items()}

    def _snapshot(self) -> dict[str, Any]:
        return self.to_store({name: getattr(self, name) for name in self.COLUMNS})

    @classmethod
    def query(cls) -> Query[Self]:
        """Everything. Other methods start from here."""
        return Query(cls)

    @classmethod
    def all(cls) -> Query[Self]:
        return cls.query()

    @classmethod
    def filter(cls, *conditions: Any, **named: Any) -> Query[Self]:
        return cls.query().filter(*conditions, **named)

    @classmethod
    def exclude(cls, *conditions: Any, **named: Any) -> Query[Self]:
        return cls.query().exclude(*conditions, **named)

    @classmethod
    def first(cls) -> One[Self]:
        return cls.query().first()

    @classmethod
    def get(cls, *conditions: Any, **named: Any) -> One[Self]:
        return cls.query().get(*conditions, **named)

    @classmethod
    def get_or_none(cls, *conditions: Any, **named: Any) -> One[Self]:
        return cls.query().get_or_none(*conditions, **named)

    @classmethod
    async def exists(cls, *conditions: Any, **named: Any) -> bool:
        return await cls.query().filter(*conditions, **named).exists()

    @classmethod
    async def create(cls, **values: Any) -> Self:
        instance = cls(**values)
        await instance.save()
        return instance

    @classmethod
    async def get_or_create(cls, defaults: dict[str, Any] | None = None, **named: Any) -> tuple[Self, bool]:
        found = await cls.filter(**named).first()
        if found is not None:
            return found, False
        return await cls.create(**{**named, **(defaults or {})}), True

    @classmethod
    async def update_or_create(
        cls, defaults: dict[str, Any] | None = None, **named: Any
    ) -> tuple[Self, bool]:
        found = await cls.filter(**named).first()
        if found is None:
            return await cls.create(**{**named, **(defaults or {})}), True
        await found.update_from_dict(defaults or {}).save()
        return found, False

    @classmethod
    async def bulk_create(cls, objects: list[Self], **_: Any) -> list[Self]:
        for instance in objects:
            await instance.save()
        return objects

    def update_from_dict(self, data: dict[str, Any]) -> Self:
        for name, value in data.items():
            if name not in self.COLUMNS:
                raise TypeError(f"{type(self).__name__} has no column '{name}'")
            setattr(self, name, value)
        return self

    async def save(self, update_fields: list[str] | None = None, **_: Any) -> None:
        """Writes what has changed; a new row gets its id."""
        written = self._snapshot()
        if self.id is None:
            given = {name: value for name, value in written.items() if value is not None}
            self._take(await self.query().ask("create", given))
            return
        wanted = written if update_fields is None else {name: written[name] for name in update_fields}
        changed = {name: value for name, value in wanted.items() if self._stored.get(name) != value}
        if changed:
            await type(self).filter(id=self.id).ask("update", changed)
            self._stored |= changed

    async def delete(self) -> None:
        await type(self).filter(id=self.id).delete()

    async def refresh_from_db(self, fields: list[str] | None = None) -> None:
        rows = await type(self).filter(id=self.id).limit(1).rows()
        if not rows:
            raise error(DoesNotExist, f"the {type(self).__name__} row {self.id} is gone")
        self._take({name: value for name, value in rows[0].items() if not fields or name in fields})

    def _take(self, row: dict[str, Any]) -> None:
        for name, kind in self.COLUMNS.items():
            if name in row:
                setattr(self, name, _read(row[name], kind))
        self._stored = self._snapshot()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.id is not None and self.id == other.id

    def __hash__(self) -> int:
        return hash((type(self), self.id))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.id}>"


def _read(value: Any, kind: type) -> Any:
    if value is None or isinstance(value, kind) and kind is not datetime:
        return value
    if kind is bool:
        return bool(value)
    if kind is str and isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    if kind is dict and isinstance(value, str):
        return json.loads(value or "{}")
    if kind is datetime and isinstance(value, str):
        return datetime.fromisoformat(value)
    if kind is datetime and isinstance(value, (int, float)):
        return datetime.fromtimestamp(value).astimezone()
    return value


def _written(value: Any, kind: type) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if value is None:
        return None
    if kind is datetime and isinstance(value, datetime) and value.tzinfo is None:
        # A time without a zone is the clock on the wall here.
        return value.astimezone()
    if kind is str and isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    return str(value) if kind is str and not isinstance(value, str) else value
