"""What a driver's error means to a client, and paths into JSON columns."""

import sqlite3
from typing import Any

import pytest
from sqlalchemy import Connection, literal, select
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, OperationalError

from determined.errors import AlreadyExists, DeterminedError, InvalidArgument, Unavailable
from determined.master.db import dialects
from determined.master.db.dialects import JsonNumber, JsonText, UnicodeLower


class SqliteError(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(f"said by {name}")
        self.sqlite_errorname = name


class PostgresError(Exception):
    def __init__(self, sqlstate: str) -> None:
        super().__init__(f"said by {sqlstate}")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("driver_error", "ours", "advice"),
    [
        (SqliteError("SQLITE_FULL"), Unavailable, "free some space"),
        (SqliteError("SQLITE_IOERR_SHMSIZE"), Unavailable, "free some space"),
        (PostgresError("53100"), Unavailable, "free some space"),
        (SqliteError("SQLITE_CORRUPT"), Unavailable, "restore a backup"),
        (SqliteError("SQLITE_CORRUPT_INDEX"), Unavailable, "restore a backup"),
        (SqliteError("SQLITE_NOTADB"), Unavailable, "restore a backup"),
        (SqliteError("SQLITE_BUSY"), Unavailable, "another process holds the database"),
        (SqliteError("SQLITE_BUSY_SNAPSHOT"), Unavailable, "another process holds the database"),
        (SqliteError("SQLITE_READONLY"), Unavailable, "check its owner and mode"),
        (SqliteError("SQLITE_IOERR_WRITE"), Unavailable, "read the system's log"),
        (SqliteError("SQLITE_TOOBIG"), InvalidArgument, "does not fit into the database"),
        (PostgresError("22003"), InvalidArgument, "does not fit into the database"),
        (PostgresError("54000"), InvalidArgument, "does not fit into the database"),
        (PostgresError("57P01"), Unavailable, "cannot serve this now"),
        (PostgresError("08006"), Unavailable, "cannot serve this now"),
        (Exception("no code at all"), Unavailable, "cannot serve this now: no code at all"),
    ],
)
def test_a_drivers_error_becomes_ours_with_what_to_do(
    driver_error: Exception, ours: type[DeterminedError], advice: str
) -> None:
    explained = dialects.explain(OperationalError("SELECT 1", {}, driver_error))
    assert type(explained) is ours
    assert advice in explained.message and str(driver_error) in explained.message


@pytest.mark.parametrize(("kind", "ours"), [(IntegrityError, AlreadyExists), (DataError, InvalidArgument)])
def test_what_sqlalchemy_tells_apart_needs_no_code(kind: type[DBAPIError], ours: type[DeterminedError]) -> None:
    assert type(dialects.explain(kind("INSERT", {}, Exception("x")))) is ours


def test_no_explanation_shows_the_statement_or_its_values() -> None:
    error = OperationalError("SELECT secret_column", {"password": "hunter2"}, SqliteError("SQLITE_FULL"))
    assert "secret_column" not in dialects.explain(error).message
    assert "hunter2" not in dialects.explain(error).message


def test_a_real_sqlite_error_has_the_code_that_we_look_for() -> None:
    with sqlite3.connect(":memory:") as conn, pytest.raises(sqlite3.IntegrityError) as raised:
        conn.execute("CREATE TABLE t (x INTEGER PRIMARY KEY)")
        conn.executemany("INSERT INTO t VALUES (?)", [(1,), (1,)])
    conn.close()
    assert raised.value.sqlite_errorname == "SQLITE_CONSTRAINT_PRIMARYKEY"


@pytest.fixture
def conn() -> Any:
    engine = dialects.create_engine("sqlite://")
    with engine.connect() as conn:
        yield conn
    engine.dispose()


DOCUMENT = (
    '{"n": 3, "f": 0.5, "big": 9007199254740993, "t": "3", "yes": true, "no": false, "nothing": null, "list": [1, 2],'
    ' "in": {"side": "deep", "n": -1}, "ü": "umlaut", "a b": "blank", "$": "dollar", "": "empty", "a[0]": "brackets"}'
)


@pytest.mark.parametrize(
    ("path", "text", "number"),
    [
        (("n",), "3", 3),
        (("f",), "0.5", 0.5),
        (("big",), "9007199254740993", 9007199254740993),
        (("t",), "3", None),
        (("yes",), "true", None),
        (("no",), "false", None),
        (("nothing",), None, None),
        (("missing",), None, None),
        (("list",), "[1,2]", None),
        (("in", "side"), "deep", None),
        (("in", "n"), "-1", -1),
        (("in", "missing"), None, None),
        (("n", "deeper"), None, None),
        (("ü",), "umlaut", None),
        (("a b",), "blank", None),
        (("$",), "dollar", None),
        (("",), "empty", None),
        (("a[0]",), "brackets", None),
    ],
)
def test_a_value_inside_of_json_is_read_as_text_and_as_a_number(
    conn: Connection, path: tuple[str, ...], text: str | None, number: float | None
) -> None:
    document = literal(DOCUMENT)
    assert tuple(conn.execute(select(JsonText(document, *path), JsonNumber(document, *path))).one()) == (text, number)


@pytest.mark.parametrize(("text", "lower"), [("ÄÖÜ", "äöü"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("ЖЗ", "жз"), ("学", "学")])
def test_lower_case_knows_every_alphabet(conn: Connection, text: str, lower: str) -> None:
    assert conn.execute(select(UnicodeLower(literal(text)))).scalar_one() == lower


def test_a_missing_driver_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(InvalidArgument, match=r"pip install 'redetermined\[postgres\]'"):
        dialects.create_engine("postgresql://localhost/x")
