"""Reading of typed rows: run a statement and build a struct from each row.

The struct's fields have the names and the order of the selected columns. mypy compares the types of the first ten
selected columns with those of the fields; the names are compared when the statement runs.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar, TypeVarTuple

from sqlalchemy import Connection, CursorResult
from sqlalchemy.sql.selectable import TypedReturnsRows

from determined.errors import NotFound

S = TypeVar("S")
Ts = TypeVarTuple("Ts")

Parameters = Mapping[str, object]


def row(
    conn: Connection, statement: TypedReturnsRows[*Ts], struct: Callable[[*Ts], S], parameters: Parameters | None = None
) -> S | None:
    """Return the only row, or None."""
    result = conn.execute(statement, parameters)
    _check(result, struct)
    found = result.one_or_none()
    return None if found is None else struct(*found)


def existing(row: S | None, missing: str) -> S:
    """Return a row that must be there. `missing`: the message of NotFound where it is not."""
    if row is None:
        raise NotFound(missing)
    return row


def rows(
    conn: Connection, statement: TypedReturnsRows[*Ts], struct: Callable[[*Ts], S], parameters: Parameters | None = None
) -> list[S]:
    result = conn.execute(statement, parameters)
    _check(result, struct)
    return [struct(*values) for values in result]


def _check(result: CursorResult[*Ts], struct: Callable[[*Ts], S]) -> None:
    fields: tuple[str, ...] = struct.__struct_fields__  # type: ignore[attr-defined]
    if tuple(result.keys()) != fields:
        raise TypeError(f"{struct} has the fields {fields}, but the statement selects {tuple(result.keys())}")
