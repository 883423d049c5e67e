"""Reading of typed rows: run a statement and build a struct from each row.

The struct's fields have the names and the order of the selected columns. mypy compares the types of the first ten
selected columns with those of the fields; the names are compared when the statement runs. A statement that was given to
`prepare` (prepared.py) runs without SQLAlchemy.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, TypeVarTuple

from sqlalchemy import Connection
from sqlalchemy.exc import MultipleResultsFound
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.selectable import TypedReturnsRows

from determined.errors import NotFound
from determined.master.db import prepared

S = TypeVar("S")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

Parameters = Mapping[str, object]
_NONE: Parameters = {}


def row(
    conn: Connection, statement: TypedReturnsRows[*Ts], struct: Callable[[*Ts], S], parameters: Parameters | None = None
) -> S | None:
    """Return the only row, or None."""
    found = rows(conn, statement, struct, parameters)
    if len(found) > 1:
        raise MultipleResultsFound("Multiple rows were found when one or none was required")
    return found[0] if found else None


def existing(row: S | None, missing: str) -> S:
    """Return a row that must be there. `missing`: the message of NotFound where it is not."""
    if row is None:
        raise NotFound(missing)
    return row


def rows(
    conn: Connection, statement: TypedReturnsRows[*Ts], struct: Callable[[*Ts], S], parameters: Parameters | None = None
) -> list[S]:
    given = parameters or _NONE
    plan = prepared.plan_of(conn, statement, given)
    if plan is None:
        result = conn.execute(statement, parameters)
        _check(tuple(result.keys()), struct)
        return [struct(*values) for values in result]
    if (plan, struct) not in _checked:
        _check(plan.columns, struct)
        _checked.add((plan, struct))
    build: Callable[..., S] = struct
    return [build(*values) for values in prepared.read(conn, plan, given)]


def tuples(
    conn: Connection, statement: TypedReturnsRows[*Ts], parameters: Parameters | None = None
) -> Sequence[tuple[*Ts]]:
    """Return the rows as they are selected."""
    given = parameters or _NONE
    plan = prepared.plan_of(conn, statement, given)
    if plan is None:
        return conn.execute(statement, parameters).all()
    return prepared.read(conn, plan, given)


def scalar(conn: Connection, statement: TypedReturnsRows[T], parameters: Parameters | None = None) -> T | None:
    """Return the first column of the first row; None where there is no row."""
    given = parameters or _NONE
    plan = prepared.plan_of(conn, statement, given)
    if plan is None:
        return conn.execute(statement, parameters).scalar()
    found: list[tuple[T]] = prepared.read(conn, plan, given)
    return found[0][0] if found else None


def change(conn: Connection, statement: Executable, values: Parameters) -> int:
    """Run a statement that changes rows; return how many."""
    plan = prepared.plan_of(conn, statement, values)
    if plan is None:
        return conn.execute(statement, values).rowcount
    return prepared.run(conn, plan, values)


def change_each(conn: Connection, statement: Executable, rows: Sequence[Parameters]) -> None:
    """Run a statement that changes rows once for each of these values, which have the same names."""
    if not rows:
        return
    plan = prepared.plan_of(conn, statement, rows[0])
    if plan is None:
        conn.execute(statement, rows)
    elif len(rows) == 1:
        prepared.run(conn, plan, rows[0])
    else:
        prepared.run_many(conn, plan, rows)


def _check(names: tuple[str, ...], struct: Callable[..., S]) -> None:
    fields: tuple[str, ...] = struct.__struct_fields__  # type: ignore[attr-defined]
    if names != fields:
        raise TypeError(f"{struct} has the fields {fields}, but the statement selects {names}")


_checked: set[tuple[prepared.Plan, Callable[..., Any]]] = set()
