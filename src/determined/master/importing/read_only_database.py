"""Databases of other trackers (SQLite, PostgreSQL), read in one transaction that cannot write."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from determined.errors import InvalidArgument, Unavailable

_DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg", "sqlite": "sqlite"}


@contextmanager
def connected(source: str, owner: str) -> Iterator[Connection]:
    """Connect for reading. `owner`: whose database it is, for people. Raises InvalidArgument and Unavailable."""
    shown = shown_address(source)
    engine = create_engine(_driver_url(source))
    try:
        with engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            else:
                _distrust(connection, shown)
            yield connection
    except SQLAlchemyError as e:
        reason = str(getattr(e, "orig", None) or e).strip()
        raise Unavailable(f"cannot read {owner}'s database {shown}: {reason}; check --source") from e
    finally:
        engine.dispose()


def rows(connection: Connection, query: str, **values: Any) -> list[Any]:
    return list(connection.execute(text(query), values))


def text_of(value: object) -> str:
    """Return a value as text: SQLite stores anything in any column."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return "" if value is None else str(value)


def shown_address(source: str) -> str:
    """Return the URL without password and parameters; the file of SQLite with its whole path."""
    url = _url(source)
    if url.get_backend_name() == "sqlite":
        return f"sqlite:///{Path(url.database or '').resolve()}"
    return URL.create("postgresql", url.username, None, url.host, url.port, url.database).render_as_string()


def _url(source: str) -> URL:
    try:
        url = make_url(source)
    except ArgumentError as e:
        raise InvalidArgument("--source is no URL of a database; write sqlite:///FILE or postgresql://...") from e
    if url.get_backend_name() not in _DRIVERS:
        raise InvalidArgument(f"--source {url.get_backend_name()}://... cannot be read; sqlite and postgresql can")
    return url


def _driver_url(source: str) -> URL:
    url = _url(source)
    if url.get_backend_name() != "sqlite":
        return url.set(drivername=_DRIVERS[url.get_backend_name()])
    path = Path(url.database or "").resolve()
    if not path.is_file():
        raise InvalidArgument(f"--source {source}: there is no file {path}; check the path")
    query = {"mode": "ro", "uri": "true"}
    if _is_closed_wal(path):
        # Else SQLite would make two files beside it, of our user, which its own program may not be able to open.
        query["immutable"] = "1"
    return make_url("sqlite://").set(database=f"file:{quote(str(path))}", query=query)


def _is_closed_wal(path: Path) -> bool:
    """Check whether a database of SQLite is in WAL mode, and no program has it open."""
    with path.open("rb") as file:
        head = file.read(20)
    return head[18:20] == b"\2\2" and not path.with_name(path.name + "-wal").exists()


def _distrust(connection: Connection, shown: str) -> None:
    """Let a file of SQLite run nothing of its own. Raises InvalidArgument for a view, which may have no end."""
    for setting in ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON"):
        connection.exec_driver_sql(f"PRAGMA {setting}")
    query = "SELECT name FROM sqlite_master WHERE type = 'view' OR sql LIKE 'create virtual%'"
    views = [str(name) for (name,) in connection.exec_driver_sql(query)]
    if views:
        raise InvalidArgument(
            f"{shown} has views or virtual tables ({', '.join(views)[:200]}); only plain tables are read. "
            "Copy the tables into a new database and import that"
        )
