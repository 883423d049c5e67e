"""Values of many runs in some columns: what groups are made of."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, select

from determined.errors import InvalidArgument
from determined.master.db.queries.query_columns import run_column
from determined.master.db.queries.query_filter import Kind, Operand
from determined.master.db.queries.run import of_runs
from determined.master.db.schema import trials
from determined.master.db.statements import AnyColumn
from determined.wire.codec import rfc3339

_JSON: dict[str, AnyColumn] = {"hp": trials.c.hparams, "metadata": trials.c.metadata}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Read = Callable[[Any], object]


def values(
    conn: Connection, conditions: Sequence[ColumnElement[bool]], keys: Sequence[str], numbers: Sequence[str]
) -> Iterator[tuple[int, list[object], list[float | None]]]:
    """(run, values of the key columns, of the columns of numbers) of every run that matches, newest first.

    Raises InvalidArgument for a column that is unknown, or in `numbers` holds none.
    """
    readers = [_key(name) for name in keys]
    selected = [sql.label(f"k{n}") for n, (sql, _) in enumerate(readers)]
    selected += [_number(name).label(f"n{n}") for n, name in enumerate(numbers)]
    query = of_runs(select(trials.c.id, *selected)).where(*conditions).order_by(trials.c.id.desc())
    end = 1 + len(keys)
    reads = [read for _, read in readers]
    for row in conn.execute(query):
        found = [value if value is None else read(value) for read, value in zip(reads, row[1:end], strict=True)]
        yield row[0], found, list(row[end:])


def is_number(name: str) -> bool:
    """Return whether the column can be summed up. Raises InvalidArgument for an unknown one."""
    operand = run_column(name)
    return operand.kind is Kind.NUMBER or operand.number is not None


def _number(name: str) -> AnyColumn:
    operand = run_column(name)
    if not is_number(name):
        raise InvalidArgument(f"column {name!r} holds no numbers to sum up; group by it or leave it out")
    return operand.sql if operand.number is None else operand.number


def _key(name: str) -> tuple[AnyColumn, Read]:
    place, _, path = name.partition(".")
    if place in _JSON and path:
        # Read here and not by the database: both then tell true from 1, and 1 from "1".
        return _JSON[place], _at(path.split("."))
    operand = run_column(name)
    return operand.sql, _shown(operand)


def _at(path: Sequence[str]) -> Read:
    def read(value: object) -> object:
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    return read


def _shown(operand: Operand) -> Read:
    """Return the operand as rows on the wire show it."""
    match operand.kind:
        case Kind.STATE:
            return lambda state: f"STATE_{state}"
        case Kind.LABELS:
            return msgspec.json.decode
        case Kind.TIME:
            return lambda micros: rfc3339(_EPOCH + timedelta(microseconds=micros))
        case Kind.BOOLEAN:
            return bool
    return lambda value: value
