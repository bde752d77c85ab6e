"""Conditions of a query: a column, a lookup, and what it is compared with.

Lookups are a closed list; what is not in it is an error that names it.
"""

from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from nekro_agent.models.errors import FieldError, OperationalError, error

if TYPE_CHECKING:
    from nekro_agent.models.model import Model

Pair: TypeAlias = tuple[str, Any]

LOOKUPS = frozenset(
    "not in not_in gt gte lt lte contains icontains startswith istartswith endswith iendswith iexact "
    "isnull not_isnull range".split()
)
_MANY = frozenset({"in", "not_in", "range"})


def conditions(model: "type[Model]", given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Pair, ...]:
    """What `filter` and `exclude` were told, checked."""
    found = [pair for condition in given for pair in _flattened(condition)]
    return tuple(_condition(model, key, value) for key, value in [*found, *named.items()])


def _flattened(condition: Any) -> list[Pair]:
    """A Q object that only says AND."""
    children = getattr(condition, "children", None)
    if children is None or getattr(condition, "_is_negated", False) or (
        str(getattr(condition, "join_type", "AND")) != "AND"
    ):
        raise error(OperationalError, f"a query cannot use {condition!r} here: only AND of plain conditions")
    return [pair for child in children for pair in _flattened(child)] + list(condition.filters.items())


def _condition(model: "type[Model]", key: str, value: Any) -> Pair:
    column, _, lookup = key.partition("__")
    column = "id" if column == "pk" else column
    check(model, column)
    if lookup and lookup not in LOOKUPS:
        known = ", ".join(sorted(LOOKUPS))
        raise error(FieldError, f"a query cannot use the lookup '{lookup}' ({key}) here; there are: {known}")
    if lookup in _MANY:
        value = [_plain(model, column, item) for item in value]
    elif lookup not in ("isnull", "not_isnull"):
        value = _plain(model, column, value)
    return (f"{column}__{lookup}" if lookup else column), value


def _plain(model: "type[Model]", column: str, value: Any) -> Any:
    if isinstance(value, Enum):
        value = value.value
    # Compat(nekro): plugins compare text columns with numbers; PostgreSQL's driver wrote them as text.
    is_text = model.COLUMNS[column] is str
    return str(value) if is_text and isinstance(value, int) and not isinstance(value, bool) else value


def check(model: "type[Model]", column: str) -> None:
    if column not in model.COLUMNS:
        known = ", ".join(model.COLUMNS)
        raise error(FieldError, f"{model.__name__} has no column '{column}'; there are: {known}")


def mapping(given: tuple[Pair, ...]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for key, value in given:
        if key in merged and merged[key] != value:
            raise error(OperationalError, f"a query cannot say two things of '{key}'")
        merged[key] = value
    return merged
