"""Databases written by earlier releases: each step upgrades them and keeps their rows."""

from datetime import UTC, datetime
from typing import Any

from alembic import command
from sqlalchemy import Connection, MetaData, Table, inspect, text

from determined.master.db import dialects, migrate


def _upgrade(conn: Connection, revision: str) -> None:
    config: Any = migrate._config()
    config.attributes["connection"] = conn
    command.upgrade(config, revision)


def test_database_of_the_first_revision_gets_an_empty_history_and_keeps_its_rows(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _upgrade(conn, "0001")
        conn.execute(text("INSERT INTO cluster (key, value) VALUES ('x', '1')"))
        assert "search_history" not in inspect(conn).get_table_names()
        conn.commit()
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert conn.execute(text("SELECT count(*) FROM search_history")).scalar_one() == 0
        assert conn.execute(text("SELECT count(*) FROM cluster")).scalar_one() == 1
        assert migrate.current_revision(conn) == migrate.HEAD
    engine.dispose()


def test_runners_of_the_third_revision_are_kept_and_claimed_by_nobody(empty_db_url: str) -> None:
    engine = dialects.create_engine(empty_db_url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _upgrade(conn, "0003")
        _insert(conn, "tasks", id="t", type="TRIAL")
        _insert(conn, "allocations", id="t.1", task_id="t", run_id=1, state="RUNNING", slots=1, pool="default")
        _insert(conn, "runners", resource_id="r", allocation_id="t.1", engine="local", node_id="a", rank=0)
        conn.commit()
    migrate.upgrade(engine)
    with engine.connect() as conn:
        assert conn.execute(text("SELECT resource_id, claimant FROM runners")).all() == [("r", None)]
        assert migrate.current_revision(conn) == migrate.HEAD
    engine.dispose()


def _insert(conn: Connection, name: str, **values: Any) -> None:
    """With something of the right type in every other column that must have a value."""
    table = Table(name, MetaData(), autoload_with=conn)
    for column in table.columns:
        if column.name not in values and not column.nullable and not column.primary_key and column.default is None:
            values[column.name] = _anything(column.type.python_type)
    conn.execute(table.insert().values(values))


def _anything(kind: type) -> Any:
    known = {datetime: datetime(2026, 11, 15, tzinfo=UTC), object: []}  # a JSON column can hold any object
    return known[kind] if kind in known else kind()
