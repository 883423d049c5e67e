"""Databases of other trackers (SQLite, PostgreSQL), read in one transaction that cannot write."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
            yield connection
    except SQLAlchemyError as e:
        reason = str(getattr(e, "orig", None) or e).strip()
        raise Unavailable(f"cannot read {owner}'s database {shown}: {reason}; check --source") from e
    finally:
        engine.dispose()


def rows(connection: Connection, query: str, **values: Any) -> list[Any]:
    return list(connection.execute(text(query), values))


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
    path = Path(url.database or "")
    if not path.is_file():
        raise InvalidArgument(f"--source {source}: there is no file {path}; check the path")
    return make_url("sqlite://").set(database=f"file:{path.resolve()}", query={"mode": "ro", "uri": "true"})
