"""Changing any column of a message of `/stream` numbers a change; otherwise clients would show old values."""

from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest
from database_world import World
from sqlalchemy import Column, Connection, Table, update
from sqlalchemy.sql import visitors

from determined.master.db.queries import change
from determined.master.db.queries.streamed import BY_NOUN, Read

# Columns that nothing changes once the row is there; a trigger that names columns (migration 0005) leaves them out.
FIXED = {"tasks": {"id", "type", "trial_id", "experiment_id"}}


def _own_columns(noun: str) -> Iterator[Column[Any]]:
    """Yield the columns of the noun's own table that its message reads."""
    hints = get_type_hints(BY_NOUN[noun].message, include_extras=True)
    sources = [get_args(hint)[1] for name, hint in hints.items() if name != "seq"]
    for source in sources:
        expression = source.column if isinstance(source, Read) else source
        for element in visitors.iterate(expression):
            if isinstance(element, Column) and element.table is BY_NOUN[noun].key.table:
                yield element


def _cases() -> list[tuple[str, str]]:
    every = {(noun, column.name) for noun in BY_NOUN for column in _own_columns(noun)}
    return sorted((noun, name) for noun, name in every if name not in FIXED.get(noun, ()))


@pytest.fixture
def keys(world: World) -> dict[str, int | str]:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    model_id, uuid = world.model({}), world.checkpoint(trial_id, {})
    return {
        "projects": world.home,
        "experiments": experiment_id,
        "trials": trial_id,
        "checkpoints": uuid,
        "tasks": world.task({"type": "COMMAND"}),
        "jobs": world.job({}),
        "models": model_id,
        "modelversions": world.model_version(model_id, uuid).id,
    }


@pytest.mark.parametrize(("noun", "column"), _cases())
def test_change_of_a_streamed_column_is_numbered(
    conn: Connection, keys: dict[str, int | str], noun: str, column: str
) -> None:
    streamed, before = BY_NOUN[noun], change.newest(conn)
    table = streamed.key.table
    assert isinstance(table, Table)
    conn.execute(update(table).where(streamed.key == keys[noun]).values({column: table.c[column]}))
    assert change.newest(conn) > before, f"add {column} to the trigger of {noun} in a migration"


def test_fixed_columns_are_ones_that_messages_read() -> None:
    for noun, names in FIXED.items():
        assert names <= {column.name for column in _own_columns(noun)}
