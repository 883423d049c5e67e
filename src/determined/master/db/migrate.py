"""Brings a database to the schema of this version: one Alembic tree for SQLite and PostgreSQL, run at every start.

`python -m determined.master.db.migrate "what changed"` writes the next revision by comparing with schema/.
"""

import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from determined.errors import FailedPrecondition, Unavailable
from determined.master.db import dialects, new_database

_TREE = Path(__file__).parent / "migrations"
# The newest revision, by file name: a start with nothing to migrate imports no migration. A test asks Alembic as well.
HEAD = max(file.name.partition("_")[0] for file in (_TREE / "versions").glob("[0-9]*_*.py"))
_CHECKED_BYTES = 64 * 1024 * 1024  # larger SQLite files are not read through at start


def upgrade(engine: Engine) -> None:
    """Create or migrate the database. Blocking; the caller owns the database alone.

    Raises:
        FailedPrecondition: a damaged file, somebody else's database, or one of a newer version; nothing was changed.
        Unavailable: the database server cannot be reached.
    """
    try:
        with engine.connect() as conn:
            _check_sound(conn)
            if current_revision(conn) == HEAD:
                return
            conn.rollback()
            dialects.begin_write(conn)
            if not inspect(conn).get_table_names():
                new_database.create(conn)
            if current_revision(conn) != HEAD:
                _run(conn)
            conn.commit()
    except (DBAPIError, sqlite3.DatabaseError) as e:
        raise _explain(engine, e) from e


def run_migrations(engine: Engine) -> None:
    """Run all migrations that the database lacks, one after the other, also on an empty one."""
    with engine.connect() as conn:
        dialects.begin_write(conn)
        _run(conn)
        conn.commit()


def current_revision(conn: Connection) -> str | None:
    """Return the revision of the database; None for an empty one."""
    tables = set(inspect(conn).get_table_names())
    if not tables:
        return None
    if "alembic_version" not in tables:
        raise FailedPrecondition(
            f"{conn.engine.url!r} holds tables that are not ours ({', '.join(sorted(tables)[:3])}, ...); "
            "name an empty database"
        )
    return str(conn.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none() or "") or None


def _check_sound(conn: Connection) -> None:
    if conn.dialect.name != "sqlite" or not conn.engine.url.database:
        return
    path = Path(conn.engine.url.database)
    if not path.exists() or path.stat().st_size > _CHECKED_BYTES:
        return
    verdict = conn.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
    if verdict != "ok":
        raise _damaged(conn.engine, str(verdict))


def _run(conn: Connection) -> None:
    from alembic import command
    from alembic.util import CommandError

    config = _config()
    config.attributes["connection"] = conn
    try:
        command.upgrade(config, "head")
    except CommandError as e:
        raise FailedPrecondition(
            f"{conn.engine.url!r} was written by a newer version of determined ({e}); upgrade this installation"
        ) from e


def _config() -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_TREE).replace("%", "%%"))
    return config


def _explain(engine: Engine, error: Exception) -> Exception:
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if engine.dialect.name == "sqlite" and not isinstance(cause, sqlite3.OperationalError):
        return _damaged(engine, str(cause))
    return Unavailable(f"cannot open the database {engine.url!r}: {cause}")


def _damaged(engine: Engine, verdict: str) -> FailedPrecondition:
    return FailedPrecondition(
        f"the database file {engine.url.database} is damaged ({verdict}); nothing was changed. "
        "Restore a backup, or move the file away to start with an empty cluster"
    )


def _new_revision(message: str) -> None:
    from alembic import command

    with tempfile.TemporaryDirectory() as scratch:
        engine = dialects.create_engine(f"sqlite:///{scratch}/scratch.db")
        with engine.connect() as conn:
            dialects.begin_write(conn)
            config = _config()
            config.attributes["connection"] = conn
            if any((_TREE / "versions").glob("[0-9]*.py")):
                command.upgrade(config, "head")
            number = len(list((_TREE / "versions").glob("[0-9]*.py"))) + 1
            command.revision(config, message, autogenerate=True, rev_id=f"{number:04d}")
            _drop_banners(next((_TREE / "versions").glob(f"{number:04d}_*.py")))
            conn.rollback()
        engine.dispose()


def _drop_banners(revision: Path) -> None:
    lines = revision.read_text().splitlines(keepends=True)
    revision.write_text("".join(line for line in lines if "### " not in line))


if __name__ == "__main__":
    _new_revision(" ".join(sys.argv[1:]) or "change")
