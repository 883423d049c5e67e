"""The JSON filter of the experiments and runs searches: parsed into a tree, then into one SQL condition.

`{"filterGroup": {"kind": "group", "conjunction": "and", "children": [{"kind": "field", "columnName": "id",
"location": "LOCATION_TYPE_EXPERIMENT", "type": "COLUMN_TYPE_NUMBER", "operator": ">", "value": 3}]},
"showArchived": false}`
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Text, and_, cast, not_, or_, true

from determined.errors import InvalidArgument
from determined.master.db.queries.text_match import contains, has_label
from determined.master.db.statements import AnyColumn

_MAX_DEPTH = 16
_MAX_CLAUSES = 400  # SQLite takes no expression deeper than 1,000, and a chain of conditions is as deep as it is long
_MAX_SORTED = 32
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Kind(StrEnum):
    NUMBER = "number"
    TEXT = "text"
    TIME = "time"  # microseconds since the epoch
    JSON = "json"  # a value of user data: number or text, as the filter's value says
    STATE = "state"  # stored without the STATE_ that filters may write
    LABELS = "labels"  # the text of a JSON list of strings
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class Operand:
    """A searchable column: its SQL and how to compare it. `number` is the same as a number, for JSON."""

    sql: AnyColumn
    kind: Kind
    number: AnyColumn | None = None


@dataclass(frozen=True, slots=True)
class Field:
    column: str
    location: str
    operator: str
    value: Any
    type: str = ""  # COLUMN_TYPE_*, where the client says as what user data is to be compared


@dataclass(frozen=True, slots=True)
class Group:
    conjunction: str
    children: tuple["Field | Group", ...]


@dataclass(frozen=True, slots=True)
class Filter:
    group: Group
    show_archived: bool = True


Resolve = Callable[[str], Operand]


def parse(text: str | None) -> Filter:
    """Parse a filter. Raises InvalidArgument saying what in the filter cannot be understood."""
    if not text:
        return Filter(Group("and", ()))
    try:
        raw = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as e:
        raise InvalidArgument(f"filter is not valid JSON: {e}") from e
    if not isinstance(raw, dict):
        raise InvalidArgument("filter must be a JSON object with `filterGroup`")
    group = _parse_group(raw.get("filterGroup") or {}, 0)
    if len(list(islice(clauses(group), _MAX_CLAUSES + 1))) > _MAX_CLAUSES:
        raise InvalidArgument(f"the filter has more than {_MAX_CLAUSES} conditions and groups; use fewer")
    return Filter(group, bool(raw.get("showArchived", True)))


def condition(node: Field | Group, resolve: Resolve) -> ColumnElement[bool]:
    if isinstance(node, Field):
        return _compare(resolve(node.column), node)
    children = [condition(child, resolve) for child in node.children]
    if not children:
        return true()
    return or_(*children) if node.conjunction == "or" else and_(*children)


def ordering(sort: str | None, resolve: Resolve) -> list[AnyColumn]:
    """`id=desc,name=asc` as ORDER BY terms; rows without a value come last, and numbers of JSON before its texts."""
    terms: list[AnyColumn] = []
    for name, descending in parse_sort(sort):
        operand = resolve(name)
        keys = [operand.sql] if operand.number is None else [operand.number, operand.sql]
        terms += [(key.desc() if descending else key.asc()).nulls_last() for key in keys]
    return terms


def parse_sort(sort: str | None) -> list[tuple[str, bool]]:
    """(column, descending) of each part of `id=desc,name=asc`."""
    orders: list[tuple[str, bool]] = []
    for part in (sort or "").split(","):
        if not part.strip():
            continue
        name, _, direction = part.strip().rpartition("=")
        if direction not in ("asc", "desc") or not name:
            raise InvalidArgument(f"sort {part!r} is not `column=asc` or `column=desc`")
        orders.append((name, direction == "desc"))
    if len(orders) > _MAX_SORTED:
        raise InvalidArgument(f"sort names {len(orders)} columns; at most {_MAX_SORTED} make a difference")
    return orders


def clauses(group: Group, at: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Field | Group]]:
    """Yield every condition and group inside, with its place: indexes of children from the outermost group on."""
    for index, child in enumerate(group.children):
        yield (*at, index), child
        if isinstance(child, Group):
            yield from clauses(child, (*at, index))


def without(group: Group, path: Sequence[int]) -> Group:
    """Return the same less the condition or group at that place."""
    index, *rest = path
    child = group.children[index]
    kept = (without(child, rest),) if rest and isinstance(child, Group) else ()
    return Group(group.conjunction, (*group.children[:index], *kept, *group.children[index + 1 :]))


def _parse_group(raw: object, depth: int) -> Group:
    if not isinstance(raw, dict) or depth > _MAX_DEPTH:
        raise InvalidArgument(f"filterGroup must be an object, nested at most {_MAX_DEPTH} deep")
    conjunction = str(raw.get("conjunction") or "and").lower()
    if conjunction not in ("and", "or"):
        raise InvalidArgument(f"conjunction {conjunction!r} must be `and` or `or`")
    children = raw.get("children") or []
    if not isinstance(children, list):
        raise InvalidArgument("children of a filter group must be a list")
    return Group(conjunction, tuple(_parse_child(child, depth + 1) for child in children))


def _parse_child(raw: object, depth: int) -> Field | Group:
    if isinstance(raw, dict) and (raw.get("kind") == "group" or "children" in raw):
        return _parse_group(raw, depth)
    if not isinstance(raw, dict) or not isinstance(raw.get("columnName"), str):
        raise InvalidArgument("each filter child is a group with `children` or a field with `columnName`")
    return Field(
        raw["columnName"],
        str(raw.get("location") or ""),
        str(raw.get("operator") or "="),
        raw.get("value"),
        str(raw.get("type") or ""),
    )


def _compare(operand: Operand, field: Field) -> ColumnElement[bool]:
    if field.operator in ("isEmpty", "notEmpty"):
        empty = _is_empty(operand)
        return empty if field.operator == "isEmpty" else not_(empty)
    if field.operator in ("contains", "notContains"):
        condition = _contains(operand, field)
        return condition if field.operator == "contains" else not_(condition)
    return _ordered(operand, field)


def _is_empty(operand: Operand) -> ColumnElement[bool]:
    if operand.kind is Kind.LABELS:
        return operand.sql == "[]"
    if operand.kind is Kind.TEXT:
        return or_(operand.sql.is_(None), operand.sql == "")
    return operand.sql.is_(None)


def _contains(operand: Operand, field: Field) -> ColumnElement[bool]:
    text = "" if field.value is None else str(field.value)
    if operand.kind is Kind.LABELS:
        return has_label(operand.sql, text)
    return contains(operand.sql, text)


def _ordered(operand: Operand, field: Field) -> ColumnElement[bool]:
    left, right = _sides(operand, field)
    if field.operator == "!=":
        return or_(left != right, left.is_(None))
    compare = _OPERATORS.get(field.operator)
    if compare is None:
        raise InvalidArgument(
            f"operator {field.operator!r} on {field.column!r} is not one of = != < <= > >= contains notContains "
            "isEmpty notEmpty"
        )
    result: ColumnElement[bool] = compare(left, right)
    return result


def _sides(operand: Operand, field: Field) -> tuple[AnyColumn, object]:
    match operand.kind:
        case Kind.NUMBER:
            return operand.sql, _number(field)
        case Kind.TIME:
            return operand.sql, _micros(field)
        case Kind.BOOLEAN:
            return operand.sql, _truth(field.value)
        case Kind.JSON:
            return _json_sides(operand, field)
        case Kind.STATE:
            return operand.sql, str(field.value).removeprefix("STATE_")
    return operand.sql, str(field.value)


def _json_sides(operand: Operand, field: Field) -> tuple[AnyColumn, object]:
    """Compare numbers as numbers, also one that a client sends as text with the type NUMBER."""
    value = field.value
    if operand.number is not None and field.type == "COLUMN_TYPE_NUMBER" and not isinstance(value, bool):
        return operand.number, _number(field)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if operand.number is not None and is_number and field.type != "COLUMN_TYPE_TEXT":
        return operand.number, float(value)
    return cast(operand.sql, Text), str(value).lower() if isinstance(value, bool) else str(value)


def _truth(value: object) -> bool:
    """Return a truth value, which a filter may write as a word."""
    return value.strip().lower() not in ("", "false", "0", "no") if isinstance(value, str) else bool(value)


def _number(field: Field) -> float:
    try:
        return float(field.value)
    except (TypeError, ValueError) as e:
        raise InvalidArgument(f"{field.column} {field.operator} {field.value!r}: a number is needed") from e


def _micros(field: Field) -> int:
    try:
        moment = datetime.fromisoformat(str(field.value))
    except ValueError as e:
        raise InvalidArgument(f"{field.column} {field.operator} {field.value!r}: an RFC 3339 time is needed") from e
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // timedelta(microseconds=1)
