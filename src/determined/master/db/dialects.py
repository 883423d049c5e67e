"""The only file that knows SQLite from PostgreSQL: connections, write locks, upserts, and what a driver's error means."""

from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, Table, event
from sqlalchemy import create_engine as _create_engine
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, IntegrityError

from determined.errors import AlreadyExists, DeterminedError, Unavailable


def create_engine(url: str) -> Engine:
    if url.startswith("sqlite"):
        return _sqlite_engine(url)
    url = url.replace("postgres://", "postgresql://", 1).replace("postgresql://", "postgresql+psycopg://", 1)
    return _create_engine(
        url, pool_size=6, max_overflow=4, pool_pre_ping=True, json_serializer=_dumps, json_deserializer=_loads
    )


def begin_write(conn: Connection) -> None:
    """Take the write lock first, so that a read-then-write transaction never fails halfway."""
    if conn.dialect.name == "sqlite":
        conn.exec_driver_sql("BEGIN IMMEDIATE")


def begin_read(conn: Connection) -> None:
    """One snapshot for all statements of a read."""
    if conn.dialect.name == "sqlite":
        conn.exec_driver_sql("BEGIN")


def upsert(
    conn: Connection, table: Table, values: dict[str, Any] | list[dict[str, Any]], keys: list[str]
) -> None:
    """Insert; where a row with the same `keys` exists, replace its other given columns."""
    rows = values if isinstance(values, list) else [values]
    if not rows:
        return
    dialect = sqlite if conn.dialect.name == "sqlite" else postgresql
    insert = dialect.insert(table)
    changed = {k: insert.excluded[k] for k in rows[0] if k not in keys}
    statement = (
        insert.on_conflict_do_update(index_elements=keys, set_=changed)
        if changed
        else insert.on_conflict_do_nothing(index_elements=keys)
    )
    conn.execute(statement, rows)


def explain(error: DBAPIError) -> DeterminedError:
    """Our error for a driver's: never a bare driver message to a client."""
    if isinstance(error, IntegrityError):
        return AlreadyExists(f"the change conflicts with existing data: {error.orig}")
    return Unavailable(f"the database cannot serve this now: {error.orig}")


def _sqlite_engine(url: str) -> Engine:
    engine = _create_engine(
        url,
        connect_args={"timeout": 30},
        json_serializer=_dumps,
        json_deserializer=_loads,
    )

    @event.listens_for(engine, "connect")
    def _configure(dbapi: Any, _record: Any) -> None:
        # We emit BEGIN ourselves (begin_read, begin_write): the driver's implicit transactions start too late for savepoints.
        dbapi.isolation_level = None
        cursor = dbapi.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA busy_timeout=30000")
        cursor.execute("PRAGMA cache_size=-32768")
        cursor.close()

    return engine


def _dumps(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _loads(value: str | bytes) -> Any:
    return msgspec.json.decode(value)
