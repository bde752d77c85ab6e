"""A query as an expression: model, filters, order, slice, verb. Awaited, it is one host call.

Verbs are a closed list; what is not in it is an error that names it.
"""

from collections.abc import AsyncIterator, Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from callgate_worker import host

from nekro_agent import platforms
from nekro_agent.models.condition import check, conditions, mapping
from nekro_agent.models.errors import DoesNotExist, MultipleObjectsReturned, OperationalError, error

if TYPE_CHECKING:
    from nekro_agent.models.model import Model

M = TypeVar("M", bound="Model")


@dataclass(frozen=True)
class Query(Generic[M]):
    """Rows of a model. Every method gives a new query; `await` gives the list of rows."""

    model: "type[M]"
    filters: tuple[tuple[str, Any], ...] = ()
    excludes: tuple[tuple[tuple[str, Any], ...], ...] = ()
    order: tuple[str, ...] = ()
    skipped: int = 0
    wanted: int | None = None

    def filter(self, *given: Any, **named: Any) -> "Query[M]":
        return replace(self, filters=(*self.filters, *conditions(self.model, given, named)))

    def exclude(self, *given: Any, **named: Any) -> "Query[M]":
        return replace(self, excludes=(*self.excludes, conditions(self.model, given, named)))

    def order_by(self, *columns: str) -> "Query[M]":
        for column in columns:
            check(self.model, column.lstrip("-"))
        return replace(self, order=columns)

    def limit(self, limit: int) -> "Query[M]":
        return replace(self, wanted=limit)

    def offset(self, offset: int) -> "Query[M]":
        return replace(self, skipped=offset)

    def all(self) -> "Query[M]":
        return self

    def distinct(self) -> "Query[M]":
        return self

    def only(self, *columns: str) -> "Query[M]":
        for column in columns:
            check(self.model, column)
        return self

    def using_db(self, _: Any) -> "Query[M]":
        return self

    def first(self) -> "One[M]":
        return One(self, None)

    def last(self) -> "One[M]":
        order = self.order or ("id",)
        turned = tuple(it[1:] if it.startswith("-") else f"-{it}" for it in order)
        return One(replace(self, order=turned), None)

    def get(self, *given: Any, **named: Any) -> "One[M]":
        return One(self.filter(*given, **named), "exactly")

    def get_or_none(self, *given: Any, **named: Any) -> "One[M]":
        return One(self.filter(*given, **named), "at most")

    def values(self, *columns: str) -> "Shaped":
        return Shaped(self, columns, as_rows=True, flat=False)

    def values_list(self, *columns: str, flat: bool = False) -> "Shaped":
        return Shaped(self, columns, as_rows=False, flat=flat)

    async def count(self) -> int:
        return await self.ask("count")

    async def exists(self) -> bool:
        return await self.ask("exists")

    async def delete(self) -> int:
        return await self.ask("delete")

    async def update(self, **values: Any) -> int:
        return await self.ask("update", self.model.to_store(values))

    async def rows(self) -> list[dict[str, Any]]:
        return await self.ask("list")

    async def ask(self, verb: str, values: dict[str, Any] | None = None) -> Any:
        return await host.call("query", **self.arguments(verb, values))

    def arguments(self, verb: str, values: dict[str, Any] | None = None) -> dict[str, Any]:
        """The one host call that this query is."""
        return {
            "model": self.model.TABLE,
            "filters": platforms.stored(mapping(self.filters)),
            "excludes": [platforms.stored(mapping(excluded)) for excluded in self.excludes],
            "order": list(self.order),
            "offset": self.skipped,
            "limit": self.wanted,
            "verb": verb,
            "values": platforms.stored(values or {}),
        }

    async def _instances(self) -> list[M]:
        return [self.model.from_store(row) for row in await self.rows()]

    def __await__(self) -> Generator[Any, None, list[M]]:
        return self._instances().__await__()

    async def __aiter__(self) -> AsyncIterator[M]:
        for instance in await self:
            yield instance

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise error(OperationalError, f"a query of {self.model.__name__} cannot do '{name}' here")


@dataclass(frozen=True)
class One(Generic[M]):
    """One row, or None where that is allowed."""

    query: Query[M]
    rule: str | None

    async def _find(self) -> M | None:
        name = self.query.model.__name__
        found = await self.query.limit(2 if self.rule else 1)
        if self.rule and len(found) > 1:
            raise error(MultipleObjectsReturned, f"several {name} rows, where one was wanted")
        if self.rule == "exactly" and not found:
            raise error(DoesNotExist, f"no {name} row, where one was wanted")
        return found[0] if found else None

    def __await__(self) -> Generator[Any, None, M | None]:
        return self._find().__await__()

    async def _columns(self, columns: tuple[str, ...], flat: bool | None) -> Any:
        shaped = Shaped(self.query.limit(1), columns, as_rows=flat is None, flat=bool(flat))
        found = await shaped
        return found[0] if found else None

    def values(self, *columns: str) -> Any:
        return self._columns(columns, None)

    def values_list(self, *columns: str, flat: bool = False) -> Any:
        return self._columns(columns, flat)


@dataclass(frozen=True)
class Shaped:
    """Rows as dictionaries or tuples of some columns."""

    query: Query[Any]
    columns: tuple[str, ...]
    as_rows: bool
    flat: bool

    async def _shape(self) -> list[Any]:
        model = self.query.model
        for column in self.columns:
            check(model, column)
        names = self.columns or tuple(model.COLUMNS)
        rows = [model.from_store(row) for row in await self.query.rows()]
        if self.as_rows:
            return [{name: getattr(row, name) for name in names} for row in rows]
        if self.flat:
            return [getattr(row, names[0]) for row in rows]
        return [tuple(getattr(row, name) for name in names) for row in rows]

    def __await__(self) -> Generator[Any, None, list[Any]]:
        return self._shape().__await__()
