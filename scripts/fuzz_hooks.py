"""Hooks that schemathesis runs around each request of `make fuzz`: count answers, keep the fuzzer's account alive.

A fuzzer that may do everything also deactivates itself, changes its own password and revokes its own session. Its
account is put back into the database as it was, so that every role is fuzzed to the end.
"""

import atexit
import json
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import schemathesis

_DATABASE = os.environ["FUZZ_DATABASE"]
_COUNTS = Path(os.environ["FUZZ_COUNTS"])
_SESSION = os.environ.get("FUZZ_SESSION")  # the hash of the fuzzer's token; none for a task

_lock = threading.Lock()
_answers: Counter[str] = Counter()


class Account:
    """The fuzzer's rows as they were when it began."""

    def __init__(self, token_hash: str) -> None:
        with self._open() as db:
            self._session = _row(db, "sessions", "token_hash", token_hash)
            self._user = _row(db, "users", "id", self._session["user_id"])

    def restore(self) -> bool:
        """Return whether anything had been changed."""
        with self._open() as db:
            return any([_put(db, "users", self._user), _put(db, "sessions", self._session)])

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(_DATABASE, timeout=30)) as db, db:
            yield db


def _row(db: sqlite3.Connection, table: str, key: str, value: Any) -> dict[str, Any]:
    db.row_factory = sqlite3.Row
    return dict(db.execute(f"SELECT * FROM {table} WHERE {key} = ?", [value]).fetchone())


def _put(db: sqlite3.Connection, table: str, row: dict[str, Any]) -> bool:
    db.row_factory = sqlite3.Row
    found = db.execute(f"SELECT * FROM {table} WHERE id = ?", [row["id"]]).fetchone()
    watched = ("active", "admin", "username", "revoked_at", "expires_at", "token_hash")
    if found is not None and all(found[name] == row[name] for name in watched if name in row):
        return False
    if found is None:
        marks = ", ".join("?" * len(row))
        db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))
    else:
        changes = ", ".join(f"{name} = ?" for name in row)
        db.execute(f"UPDATE {table} SET {changes} WHERE id = ?", [*row.values(), row["id"]])
    return True


_account = Account(_SESSION) if _SESSION else None


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    status = response.status_code
    with _lock:
        _answers[str(status)] += 1
        if status in (401, 403) and _account is not None:
            _answers["restored"] += _account.restore()


@atexit.register
def _write_counts() -> None:
    _COUNTS.write_text(json.dumps(_answers))
