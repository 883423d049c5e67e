"""The only file that knows SQLite from PostgreSQL: connections, locks, upserts, what a driver's error means."""

import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec
from sqlalchemy import ColumnElement, Connection, Engine, Executable, Float, Integer, Table, Text, event, literal
from sqlalchemy import create_engine as _create_engine
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import QueuePool
from sqlalchemy.sql.functions import FunctionElement

from determined.errors import AlreadyExists, DeterminedError, InvalidArgument, Unavailable
from determined.master.db import prepared

T = TypeVar("T")
Values = Mapping[str, object]  # by column

_BUSY_SECONDS = 10  # how long to wait for a process that holds our file: a backup, a curious sqlite3 shell
_KEPT_STATEMENTS = 256  # of each connection; preparing one costs more than running most
_MASTER_LOCK = 0x44_45_54_4D_53_54_52  # "DETMSTR": the advisory lock of a PostgreSQL database in use by a master


def create_engine(url: str) -> Engine:
    if url.startswith("sqlite"):
        return _sqlite_engine(url)
    if importlib.util.find_spec("psycopg") is None:
        raise InvalidArgument("PostgreSQL needs its driver; run: pip install 'redetermined[postgres]'")
    return _postgresql_engine(url)


def begin_write(conn: Connection) -> None:
    """Take the write lock first, so that a read-then-write transaction never fails halfway."""
    conn.begin()  # or SQLAlchemy knows of no transaction to commit, where all statements were prepared
    if conn.dialect.name == "sqlite":
        prepared.run_text(conn, "BEGIN IMMEDIATE")


def begin_read(conn: Connection) -> None:
    """Begin one snapshot for all statements of a read; on PostgreSQL these options travel with BEGIN."""
    if conn.dialect.name == "sqlite":
        prepared.run_text(conn, "BEGIN")
    else:
        conn.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def run_read(engine: Engine, run: Callable[[Connection], T]) -> T:
    """Run in a transaction that only reads. Raises what `explain` makes of a driver's error."""
    try:
        with engine.connect() as conn:
            begin_read(conn)
            return run(conn)
    except DBAPIError as e:
        raise explain(e) from e


def has_server(engine: Engine) -> bool:
    """Can masters of several machines reach it? A SQLite file cannot: its directory is locked (data_directory.py)."""
    return engine.dialect.name != "sqlite"


def sync(engine: Engine) -> None:
    """Force what is committed to the disk. PostgreSQL has done so at the commit."""
    if engine.dialect.name != "sqlite" or not engine.url.database:
        return
    try:
        log = os.open(f"{engine.url.database}-wal", os.O_RDONLY)
    except FileNotFoundError:
        return  # a checkpoint has emptied and synced it
    try:
        os.fsync(log)
    finally:
        os.close(log)


def claim(conn: Connection) -> bool:
    """Become the one master of this database for as long as the connection lives; False when another one is."""
    claimed = bool(conn.exec_driver_sql(f"SELECT pg_try_advisory_lock({_MASTER_LOCK})").scalar_one())
    conn.commit()
    return claimed


def unclaim(conn: Connection) -> None:
    """Undo `claim` at once: a server notices only some time later that a connection was closed."""
    conn.exec_driver_sql(f"SELECT pg_advisory_unlock({_MASTER_LOCK})")
    conn.commit()


def upsert(conn: Connection, table: Table, values: Values | Sequence[Values], keys: list[str]) -> None:
    """Insert; where a row with the same `keys` exists, replace its other given columns."""
    rows = [values] if isinstance(values, Mapping) else values
    if not rows:
        return
    plan = prepared.plan_of(conn, _upsert(conn.dialect.name, table, tuple(rows[0]), tuple(keys)), rows[0])
    assert plan is not None, "it was given to prepare"
    if len(rows) == 1:
        prepared.run(conn, plan, rows[0])
    else:
        prepared.run_many(conn, plan, rows)


def insert_rows(conn: Connection, table: Table, columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    """Insert many rows of values as the driver takes them: times as integers, JSON as text.

    SQLAlchemy's own insert looks at every value of every row, which takes longer than storing them.
    """
    if rows:
        sign = "?" if conn.dialect.name == "sqlite" else "%s"
        signs = ", ".join([sign] * len(columns))
        conn.exec_driver_sql(f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({signs})", list(rows))


def continue_ids(conn: Connection, table: Table) -> None:
    """Give new rows ids above those that were written with ids of their own. SQLite does so by itself."""
    if conn.dialect.name == "sqlite":
        return
    sequence, largest = f"pg_get_serial_sequence('{table.name}', 'id')", f"(SELECT max(id) FROM {table.name})"
    conn.exec_driver_sql(f"SELECT setval({sequence}, {largest}) WHERE {largest} IS NOT NULL")


def _insert(dialect_name: str, table: Table) -> Any:
    if dialect_name == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # a twentieth of what a master on SQLite would import

    return postgresql.insert(table)


@cache  # as many as there are calls in this program
def _upsert(dialect_name: str, table: Table, columns: tuple[str, ...], keys: tuple[str, ...]) -> Executable:
    """Kept, because building one costs more than running it and every report needs several."""
    insert = _insert(dialect_name, table)
    changed = {name: insert.excluded[name] for name in columns if name not in keys}
    statement: Executable = (
        insert.on_conflict_do_update(index_elements=keys, set_=changed)
        if changed
        else insert.on_conflict_do_nothing(index_elements=keys)
    )
    return prepared.prepare(statement)


class JsonNumber(FunctionElement[float]):
    """The number at a path of a JSON column; NULL where there is none or it is of another type.

    One bad cast fails a whole query on PostgreSQL, so user data is never cast without a look at its type.
    """

    inherit_cache = True
    name = "json_number"
    type = Float()

    def __init__(self, column: ColumnElement[Any], *path: str) -> None:
        super().__init__(column, literal(_json_path(path)), *(literal(key) for key in path))


@compiles(JsonNumber, "sqlite")
def _number_on_sqlite(element: JsonNumber, compiler: Any, **options: Any) -> str:
    column, path = [compiler.process(clause, **options) for clause in list(element.clauses)[:2]]
    kind = f"json_type({column}, {path})"
    return f"CASE WHEN {kind} IN ('integer', 'real') THEN json_extract({column}, {path}) END"


@compiles(JsonNumber, "postgresql")
def _number_on_postgresql(element: JsonNumber, compiler: Any, **options: Any) -> str:
    column, _, *keys = [compiler.process(clause, **options) for clause in element.clauses]
    value = f"json_extract_path({', '.join([column, *keys])})" if keys else column
    return f"CASE WHEN json_typeof({value}) = 'number' THEN CAST(CAST({value} AS TEXT) AS DOUBLE PRECISION) END"


class JsonText(FunctionElement[str]):
    """The value at a path of a JSON column as text, `true` and `false` in words; NULL where there is none.

    SQLite itself knows no booleans and would answer 1 and 0.
    """

    inherit_cache = True
    name = "json_text"
    type = Text()

    def __init__(self, column: ColumnElement[Any], *path: str) -> None:
        super().__init__(column, literal(_json_path(path)), *(literal(key) for key in path))


@compiles(JsonText, "sqlite")
def _text_on_sqlite(element: JsonText, compiler: Any, **options: Any) -> str:
    column, path = [compiler.process(clause, **options) for clause in list(element.clauses)[:2]]
    kind, value = f"json_type({column}, {path})", f"CAST(json_extract({column}, {path}) AS TEXT)"
    return f"CASE WHEN {kind} IN ('true', 'false') THEN {kind} ELSE {value} END"


@compiles(JsonText, "postgresql")
def _text_on_postgresql(element: JsonText, compiler: Any, **options: Any) -> str:
    column, _, *keys = [compiler.process(clause, **options) for clause in element.clauses]
    return f"json_extract_path_text({', '.join([column, *keys])})"


class UnicodeLower(FunctionElement[str]):
    """Lower case of any alphabet; SQLite's own `lower` leaves everything but ASCII as it is."""

    inherit_cache = True
    name = "unicode_lower"
    type = Text()


class TextPosition(FunctionElement[int]):
    """Place of a text within another one, from 1 on; 0 where it is not there. Unlike LIKE on SQLite it minds case."""

    inherit_cache = True
    name = "text_position"
    type = Integer()


def _compile_as(kind: type[FunctionElement[Any]], dialect: str, function: str) -> None:
    """Have a dialect write a call of its own function."""

    @compiles(kind, dialect)
    def _call(element: FunctionElement[Any], compiler: Any, **options: Any) -> str:
        return f"{function}({compiler.process(element.clauses, **options)})"


_compile_as(UnicodeLower, "sqlite", "unicode_lower")
_compile_as(UnicodeLower, "postgresql", "lower")
_compile_as(TextPosition, "sqlite", "instr")
_compile_as(TextPosition, "postgresql", "strpos")


def _json_path(keys: tuple[str, ...]) -> str:
    return "$" + "".join(f".{msgspec.json.encode(key).decode()}" for key in keys)


def explain(error: DBAPIError) -> DeterminedError:
    """Our error for a driver's: never a bare driver message to a client."""
    if isinstance(error, IntegrityError):
        return AlreadyExists(f"the change conflicts with existing data: {error.orig}")
    if isinstance(error, DataError) or _code(error).startswith(_MISFITS):
        return InvalidArgument(f"a value does not fit into the database: {error.orig}")
    for code, advice in _ADVICE.items():
        if _code(error).startswith(code):
            return Unavailable(f"{advice} ({error.orig})")
    return Unavailable(f"the database cannot serve this now: {error.orig}")


# 22: a value out of its type's range; 54: past a limit of the server, such as the size of an index entry. Trying again
# can never help, so the sender must hear that it is the value.
_MISFITS = ("22", "54", "SQLITE_TOOBIG")
_FULL = "the disk of the database is full, so this was not stored; nothing older is lost, free some space and try again"
_ADVICE = {
    "SQLITE_FULL": _FULL,
    "SQLITE_IOERR_SHMSIZE": _FULL,
    "53100": _FULL,
    "SQLITE_CORRUPT": "the database file is damaged; stop the master and restore a backup",
    "SQLITE_NOTADB": "the database file is damaged; stop the master and restore a backup",
    "SQLITE_BUSY": "another process holds the database; end it or try again later",
    "SQLITE_READONLY": "the database file cannot be written; check its owner and mode",
    "SQLITE_IOERR": "the disk of the database fails; read the system's log",
}


def _code(error: DBAPIError) -> str:
    """Return the driver's own name of what went wrong: SQLITE_FULL, or five characters of PostgreSQL."""
    return str(getattr(error.orig, "sqlite_errorname", None) or getattr(error.orig, "sqlstate", None) or "")


def _sqlite_engine(url: str) -> Engine:
    engine = _create_engine(
        url,
        connect_args={"timeout": _BUSY_SECONDS, "cached_statements": _KEPT_STATEMENTS},
        json_serializer=_dumps,
        json_deserializer=_loads,
    )

    @event.listens_for(engine, "connect")
    def _configure(dbapi: Any, _record: Any) -> None:
        # We emit BEGIN ourselves (begin_read, begin_write): the driver's own transactions start too late for savepoints
        dbapi.isolation_level = None
        dbapi.create_function("unicode_lower", 1, str.lower, deterministic=True)
        cursor = dbapi.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        # A commit is not synced by itself: the writer does it once a second (database.py), which costs a power failure
        # that second and saves a wait for the disk per commit.
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute(f"PRAGMA busy_timeout={_BUSY_SECONDS * 1000}")
        cursor.execute("PRAGMA cache_size=-32768")
        cursor.close()

    return engine


def release_memory(engine: Engine) -> None:
    """Replace idle connections to SQLite: the driver's cached statements keep the last values that were bound to them.

    Those are megabytes after a large search or upload, and only closing the connection frees them. One is opened before
    the others are closed, because the last one to close would wait for a checkpoint.
    """
    if engine.dialect.name != "sqlite" or not isinstance(engine.pool, QueuePool):
        return
    idle = [engine.connect() for _ in range(engine.pool.checkedin())]
    with engine.connect():
        for conn in idle:
            conn.invalidate()
            conn.close()


def _postgresql_engine(url: str) -> Engine:
    url = url.replace("postgres://", "postgresql://", 1).replace("postgresql://", "postgresql+psycopg://", 1)
    engine = _create_engine(
        url,
        # A server that was set up under LC_ALL=C stores bytes as they come (SQL_ASCII) and would give us bytes back.
        connect_args={"client_encoding": "utf8"},
        pool_size=6,
        max_overflow=4,
        pool_pre_ping=True,
        json_serializer=_dumps,
        json_deserializer=_loads,
    )

    @event.listens_for(engine, "connect")
    def _configure(dbapi: Any, _record: Any) -> None:
        # Compiling a search over metric columns takes longer than running it.
        dbapi.execute("SET jit = off")
        dbapi.commit()

    return engine


def _dumps(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _loads(value: str | bytes) -> Any:
    return msgspec.json.decode(value)
