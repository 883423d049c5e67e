"""Statements that are compiled once: they read, change and fail as SQLAlchemy's own do."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from database_world import World
from msgspec.structs import asdict
from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError, IntegrityError, MultipleResultsFound, OperationalError

from determined.errors import AlreadyExists, Unavailable
from determined.master.db import dialects, fetch, prepared
from determined.master.db.database import Database
from determined.master.db.queries.in_names import InNames
from determined.master.db.rows.allocations import Task
from determined.master.db.rows.cluster import NodeOverride
from determined.master.db.schema import node_overrides, tasks

NOW = datetime(2026, 11, 19, 12, 30, 15, 123456, tzinfo=UTC)
_PLAIN = select(tasks).where(tasks.c.id == bindparam("this"))
_GET = prepared.prepare(select(tasks).where(tasks.c.id == bindparam("this")))
_INSERT = prepared.prepare(insert(tasks))
_UPDATE = prepared.prepare(update(tasks).where(tasks.c.id == bindparam("this")))
_ALL = prepared.prepare(select(tasks.c.id).order_by(tasks.c.id))
_OVERRIDES = prepared.prepare(select(node_overrides))
_BY_NAME = InNames(select(tasks.c.id).order_by(tasks.c.id), tasks.c.id)


def add(conn: Connection, *ids: str) -> None:
    rows = [{"id": id_, "type": "COMMAND", "start_time": NOW, "spec": {"a": [1, None]}} for id_ in ids]
    fetch.change_each(conn, _INSERT, rows)


def test_a_prepared_statement_reads_the_values_that_sqlalchemy_reads(conn: Connection, world: World) -> None:
    add(conn, "t1")
    fetch.change(conn, _UPDATE, {"this": "t1", "end_time": NOW, "log_retention_days": 3})
    row = fetch.row(conn, _GET, Task, {"this": "t1"})
    assert row is not None
    assert asdict(row) == dict(conn.execute(_PLAIN, {"this": "t1"}).mappings().one())
    assert (row.start_time, row.end_time, row.spec) == (NOW, NOW, {"a": [1, None]})


def test_booleans_are_read_as_booleans_on_both_databases(conn: Connection) -> None:
    values = {"node_id": "n", "slot_id": 1, "enabled": False, "draining": True}
    dialects.upsert(conn, node_overrides, values, ["node_id", "slot_id"])
    [row] = fetch.rows(conn, _OVERRIDES, NodeOverride)
    assert (row.enabled, row.draining) == (False, True)
    assert type(row.enabled) is bool


def test_each_set_of_columns_is_changed_by_a_statement_of_its_own(conn: Connection) -> None:
    add(conn, "t1", "t2")
    assert fetch.change(conn, _UPDATE, {"this": "t1", "log_retention_days": 3}) == 1
    assert fetch.change(conn, _UPDATE, {"this": "t1", "end_time": NOW}) == 1
    assert fetch.change(conn, _UPDATE, {"this": "absent", "end_time": NOW}) == 0
    row = fetch.row(conn, _GET, Task, {"this": "t1"})
    assert row is not None
    assert (row.log_retention_days, row.end_time) == (3, NOW)


def test_more_rows_than_one_are_no_single_row(conn: Connection) -> None:
    two = prepared.prepare(select(tasks))
    add(conn, "t1", "t2")
    with pytest.raises(MultipleResultsFound):
        fetch.row(conn, two, Task)


def test_a_list_of_names_of_any_length_finds_them_and_no_others(conn: Connection) -> None:
    ids = [f"t{n:02}" for n in range(11)]
    add(conn, *ids)
    for count in (1, 2, 3, 5, 10):
        statement, names = _BY_NAME.of(ids[:count])
        assert fetch.tuples(conn, statement, names) == [(id_,) for id_ in ids[:count]]


def test_a_statement_whose_text_depends_on_its_values_is_refused(conn: Connection) -> None:
    statement = prepared.prepare(select(tasks.c.id).where(tasks.c.id.in_(bindparam("ids", expanding=True))))
    with pytest.raises(TypeError, match="depends on its values"):
        fetch.tuples(conn, statement, {"ids": ["t1"]})


def test_a_value_that_is_not_given_is_an_error(conn: Connection) -> None:
    with pytest.raises(KeyError, match="this"):
        fetch.row(conn, _GET, Task, {"that": "t1"})


def test_a_failing_statement_raises_the_error_of_sqlalchemy_and_undoes_its_part_alone(conn: Connection) -> None:
    add(conn, "t1")
    with pytest.raises(IntegrityError) as caught, prepared.Savepoint(conn):
        add(conn, "t2")
        add(conn, "t1")
    assert isinstance(caught.value, DBAPIError)
    assert isinstance(dialects.explain(caught.value), AlreadyExists)
    assert fetch.tuples(conn, _ALL) == [("t1",)]


def test_a_part_inside_of_a_part_is_undone_alone(conn: Connection) -> None:
    with prepared.Savepoint(conn):
        add(conn, "t1")
        with pytest.raises(ValueError, match="enough"), prepared.Savepoint(conn):
            add(conn, "t2")
            raise ValueError("enough")
        add(conn, "t3")
    assert fetch.tuples(conn, _ALL) == [("t1",), ("t3",)]


async def test_a_transaction_of_prepared_statements_alone_is_committed(db_url: str) -> None:
    from determined.master.db import migrate

    db = Database(db_url)
    try:
        migrate.upgrade(db.engine)
        await db.write(lambda conn: add(conn, "t1"))
        assert await db.read(lambda conn: fetch.tuples(conn, _ALL)) == [("t1",)]
    finally:
        await db.close()


def test_a_driver_that_fails_behind_the_first_row_raises_the_error_of_sqlalchemy(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows(_dialect: Dialect, _cursor: Any) -> Iterator[tuple[str]]:
        yield ("t1",)
        raise conn.dialect.loaded_dbapi.OperationalError("disk I/O error")

    monkeypatch.setattr(prepared.Plan, "rows", lambda _plan, *given: list(rows(*given)))
    with pytest.raises(OperationalError) as caught:
        fetch.tuples(conn, _ALL)
    assert isinstance(dialects.explain(caught.value), Unavailable)
