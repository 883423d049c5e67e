"""`make fuzz` fails when it tested nothing, and a fuzzer that locks itself out is let in again."""

import importlib
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as db, db:
        yield db


@pytest.fixture(autouse=True)
def _scripts_on_the_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    yield
    for name in ("fuzz", "fuzz_world", "fuzz_hooks"):
        sys.modules.pop(name, None)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "master.db"
    with _opened(path) as db:
        db.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, username TEXT, admin INT, active INT)")
        columns = "id INTEGER PRIMARY KEY, user_id INT, token_hash TEXT, revoked_at INT, expires_at INT"
        db.execute(f"CREATE TABLE sessions ({columns})")
        db.execute("INSERT INTO users VALUES (1, 'fuzzer', 0, 1), (2, 'other', 0, 1)")
        db.execute("INSERT INTO sessions VALUES (5, 1, 'hash', NULL, 99), (6, 2, 'another', NULL, 99)")
    return path


@pytest.fixture
def hooks(database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """What schemathesis loads, without schemathesis: its decorator gives back what it is given."""
    registered: list[Any] = []
    monkeypatch.setattr("atexit.register", lambda function: registered.append(function) or function)
    monkeypatch.setitem(sys.modules, "schemathesis", SimpleNamespace(hook=lambda function: function))
    monkeypatch.setenv("FUZZ_DATABASE", str(database))
    monkeypatch.setenv("FUZZ_COUNTS", str(tmp_path / "counts.json"))
    monkeypatch.setenv("FUZZ_SESSION", "hash")
    yield importlib.import_module("fuzz_hooks")


def _rows(database: Path) -> list[Any]:
    with _opened(database) as db:
        return [
            db.execute("SELECT * FROM users ORDER BY id").fetchall(),
            db.execute("SELECT * FROM sessions ORDER BY id").fetchall(),
        ]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE users SET active = 0 WHERE id = 1",
        "UPDATE users SET admin = 1, username = 'renamed' WHERE id = 1",
        "UPDATE sessions SET revoked_at = 7 WHERE id = 5",
        "DELETE FROM sessions WHERE id = 5",
        "DELETE FROM users WHERE id = 1",
    ],
)
def test_a_fuzzer_that_locks_itself_out_is_let_in_again(hooks: ModuleType, database: Path, change: str) -> None:
    before = _rows(database)
    with _opened(database) as db:
        db.execute(change)
    hooks.after_call(None, None, SimpleNamespace(status_code=403))
    assert _rows(database) == before
    hooks.after_call(None, None, SimpleNamespace(status_code=403))
    assert hooks._answers == {"403": 2, "restored": 1}, "a refusal alone is no lock-out"


def test_what_it_did_to_others_stays(hooks: ModuleType, database: Path) -> None:
    with _opened(database) as db:
        db.execute("UPDATE users SET active = 0 WHERE id = 2")
    hooks.after_call(None, None, SimpleNamespace(status_code=401))
    assert _rows(database)[0][1] == (2, "other", 0, 0)


@pytest.mark.parametrize(
    ("status", "answers", "failed"),
    [
        (0, {"200": 5, "404": 90}, False),
        (0, {"403": 900, "401": 4}, True),
        (0, {}, True),
        (0, {"200": 5, "500": 1}, True),
        (1, {"200": 5}, True),
    ],
)
def test_a_run_that_tested_nothing_or_met_an_error_has_failed(
    status: int, answers: dict[str, int], failed: bool
) -> None:
    run = importlib.import_module("fuzz").Run("task", status, answers)
    assert run.failed is failed


def test_the_end_counts_the_answers_of_each_role() -> None:
    run = importlib.import_module("fuzz").Run("user", 0, {"404": 3, "200": 2, "503": 1, "restored": 4})
    assert run.summary() == ("user: 6 cases, 1 x 5xx, account restored 4 times, answers {'200': 2, '404': 3, '503': 1}")


def test_what_went_wrong_behind_the_answers_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "master.log"
    log.write_text(
        '{"level": "INFO", "message": "fine"}\nno json\n{"level": "ERROR", "message": "loop 1234abcd ended"}\n'
        '{"level": "ERROR", "message": "loop 5678abcd ended"}\n{"level": "INFO", "message": "x", "traceback": "T"}\n'
    )
    assert importlib.import_module("fuzz")._incidents(log) == 2
    assert "loop" in capsys.readouterr().out
