"""A full disk, a damaged file, a file somebody else holds: said clearly, nothing lost, served again afterwards."""

import logging
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from determined.master.db import dialects


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 6 MB."""
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", path], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield path
    subprocess.run(["umount", "-l", path], check=True)


def _fill(path: Path) -> None:
    with path.open("wb") as file:
        try:
            while True:
                file.write(b"x" * 65536)
                file.flush()
        except OSError:
            pass


def _write_until_refused(client: Any) -> tuple[list[str], Any]:
    """Names of the workspaces that were acknowledged, and the first refusal."""
    stored = []
    for number in range(5_000):
        answer = client.post("/api/v1/workspaces", {"name": f"{number} ".ljust(53, "x")})
        if answer.status != 200:
            return stored, answer
        stored.append(answer.json["workspace"]["name"])
    raise AssertionError("the disk never became full")


def test_a_full_disk_is_told_loses_nothing_and_heals(
    small_disk: Path, start_master: Any, caplog: pytest.LogCaptureFixture
) -> None:
    master = start_master(data_dir=small_disk / "data")
    admin = master.client("admin")
    _fill(small_disk / "filler")
    stored, refusal = _write_until_refused(admin)
    assert refusal.status == 503
    assert "disk of the database is full" in refusal.message
    assert admin.get("/api/v1/me").status == 200, "reading goes on"
    (small_disk / "filler").unlink()
    assert admin.post("/api/v1/workspaces", {"name": "after"}).status == 200
    names = {w["name"] for w in admin.get("/api/v1/workspaces", fields={"limit": -1}).json["workspaces"]}
    assert {*stored, "after"} <= names
    master.stop()
    again = start_master(data_dir=small_disk / "data").client("admin")
    assert names == {w["name"] for w in again.get("/api/v1/workspaces", fields={"limit": -1}).json["workspaces"]}
    assert not [record.getMessage() for record in caplog.records if record.exc_info], "no traceback for a full disk"


def test_a_master_refuses_to_start_on_a_full_disk_in_one_line(small_disk: Path, start_process: Any) -> None:
    _fill(small_disk / "filler")
    process = start_process("--data-dir", str(small_disk / "data"), "--port", "0")
    _, log = process.communicate(timeout=60)
    assert process.returncode == 3, log
    assert "No space left" in log.decode() or "full" in log.decode()
    assert "Traceback" not in log.decode()


def test_a_database_at_its_limit_of_pages_is_told_as_full(start_master: Any, tmp_path: Path) -> None:
    master = start_master()
    engine = master.ctx.db.engine

    @event.listens_for(engine, "checkout")
    def limit(dbapi: Any, _record: Any, _proxy: Any) -> None:
        dbapi.execute("PRAGMA max_page_count=1")  # SQLite takes the present size instead of less

    admin = master.client("admin")
    _, refusal = _write_until_refused(admin)
    assert (refusal.status, refusal.json["error"]["reason"]) == (503, "unavailable")
    event.remove(engine, "checkout", limit)
    engine.dispose()
    assert admin.post("/api/v1/workspaces", {"name": "after"}).status == 200


def test_a_file_damaged_while_it_is_used_is_told(start_master: Any, tmp_path: Path) -> None:
    master = start_master()
    admin = master.client("admin")
    file = tmp_path / "data" / "master.db"
    with sqlite3.connect(file, timeout=60) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = file.stat().st_size
    with file.open("r+b") as raw:
        raw.seek(0)
        raw.write(os.urandom(size))
    master.ctx.db.engine.dispose()
    answer = admin.get("/api/v1/workspaces")
    assert answer.status == 503
    assert "damaged" in answer.message
    assert "backup" in answer.message
    assert master.anonymous.get("/health").status == 503
    assert master.anonymous.get("/info").status == 200


def test_a_database_that_another_process_holds_is_told_and_served_again(
    start_master: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialects, "_BUSY_SECONDS", 0.2)
    master = start_master()
    admin = master.client("admin")
    holder = sqlite3.connect(tmp_path / "data" / "master.db", isolation_level=None, timeout=60)
    holder.execute("BEGIN IMMEDIATE")
    answer = admin.post("/api/v1/workspaces", {"name": "w"})
    assert answer.status == 503
    assert "another process holds the database" in answer.message
    assert admin.get("/api/v1/me").status == 200, "reading goes on"
    holder.execute("ROLLBACK")
    holder.close()
    assert admin.post("/api/v1/workspaces", {"name": "w"}).status == 200


def test_background_work_waits_quietly_while_the_database_is_held(
    start_master: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(dialects, "_BUSY_SECONDS", 0.05)
    master = start_master()
    holder = sqlite3.connect(tmp_path / "data" / "master.db", isolation_level=None, timeout=60)
    holder.execute("BEGIN IMMEDIATE")
    refused = master.anonymous.post("/api/v1/auth/login", {"username": "admin", "password": ""})
    assert refused.status == 503
    holder.close()
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
