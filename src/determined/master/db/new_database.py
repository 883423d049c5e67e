"""Schema of a new SQLite database in one step: `sqlite_schema.sql` is what the migrations make of an empty one.

Running them takes a tenth of a second, which the first start of a master would spend before it serves. A script writes
the file, scripts/make_sqlite_schema.py, and a test compares the two. Migrations that it lacks run after it.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from sqlalchemy import Connection

FILE = Path(__file__).with_name("sqlite_schema.sql")
_NOTE = "-- Written by scripts/make_sqlite_schema.py from the migrations; changes are lost.\n"


def create(conn: Connection) -> None:
    """Give an empty database its tables, inside the caller's transaction. PostgreSQL has no such file."""
    if conn.dialect.name == "sqlite":
        for statement in statements(FILE.read_text()):
            conn.exec_driver_sql(statement)


def statements(text: str) -> Iterator[str]:
    """Yield the statements of a file; SQLite tells where one ends, as those of triggers hold others."""
    lines: list[str] = []
    for line in text.removeprefix(_NOTE).splitlines(keepends=True):
        lines.append(line)
        if line.endswith(";\n") and sqlite3.complete_statement("".join(lines)):
            yield "".join(lines).removesuffix(";\n")
            lines = []


def text_of(database: sqlite3.Connection) -> str:
    """Return a file that makes an empty database equal to this one."""
    return _NOTE + "".join(f"{statement};\n" for statement in _made_by(database))


def _made_by(database: sqlite3.Connection) -> Iterable[str]:
    """Yield what made the tables, their rows, indexes and triggers, in this order: a trigger must not see the rows."""
    made = database.execute(
        "SELECT type, sql FROM sqlite_master WHERE sql NOTNULL AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    yield from (sql for kind, sql in made if kind == "table")
    yield from (line.removesuffix(";") for line in database.iterdump() if line.startswith("INSERT INTO"))
    yield from (sql for kind, sql in made if kind == "index")
    yield from (sql for kind, sql in made if kind == "trigger")
