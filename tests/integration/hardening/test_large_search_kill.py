"""A master that is killed while it creates a large search goes on where it was: no trial is lost or doubled."""

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from http_client import Client

TRIALS = 1500


@pytest.mark.parametrize("classic", [False, True])
def test_killing_the_master_between_pieces_changes_nothing(
    await_port: Callable[..., tuple[Any, int]], tmp_path: Path, classic: bool
) -> None:
    config = tmp_path / "master.yaml"
    config.write_text(json.dumps({"security": {"initial_user_password": ""}}))
    flags = ("--config-file", str(config), "--data-dir", str(tmp_path / "data"), "--slots", "1")
    process, port = await_port(*flags)
    user = Client(f"http://127.0.0.1:{port}").login("determined")
    answer = user.post("/api/v1/experiments", {"config": json.dumps(_config(classic)), "activate": False})
    assert answer.status == 200, answer.raw
    created = []
    for _ in range(4):
        process.kill()
        process.wait()
        created.append(_count(tmp_path))
        process, _ = await_port(*flags)
    assert created[0] < TRIALS, "the first kill came while trials were still created"
    _await_all(tmp_path)
    with closing(_open(tmp_path)) as db:
        numbers = "SELECT count(*), count(DISTINCT request_id), count(DISTINCT task_id) FROM trials"
        assert db.execute(numbers).fetchone() == (TRIALS, TRIALS, TRIALS)
        lengths = db.execute("SELECT count(*) FROM trials WHERE op_length = 9 AND op_closed").fetchone()
    assert lengths == ((TRIALS if classic else 0),)


def _config(classic: bool) -> dict[str, Any]:
    searcher = {"name": "random", "metric": "loss", "max_trials": TRIALS, "max_concurrent_trials": 0}
    return {
        "name": "large",
        "entrypoint": "sleep 1",
        "searcher": searcher | ({"max_length": {"batches": 9}} if classic else {}),
        "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
    }


def _open(tmp_path: Path) -> sqlite3.Connection:
    return sqlite3.connect(tmp_path / "data" / "master.db", timeout=60)


def _count(tmp_path: Path) -> int:
    with closing(_open(tmp_path)) as db:
        return int(db.execute("SELECT count(*) FROM trials").fetchone()[0])


def _await_all(tmp_path: Path) -> None:
    deadline = time.monotonic() + 120
    while True:
        with closing(_open(tmp_path)) as db:
            left = db.execute("SELECT count(*) FROM search_queue").fetchone()[0]
        if not left:
            return
        assert time.monotonic() < deadline, f"{left} pieces are left after two minutes"
        time.sleep(0.1)
