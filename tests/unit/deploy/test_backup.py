"""Backups of a database that is being written to, and putting them back."""

import contextlib
import sqlite3
import tarfile
import threading
from pathlib import Path

import pytest

from determined.deploy import backup
from determined.deploy.process import MasterProcess
from determined.errors import AlreadyExists, FailedPrecondition, InvalidArgument, NotFound
from determined.rundir import tar


@pytest.fixture
def master(tmp_path: Path) -> MasterProcess:
    directory = tmp_path / "own"
    directory.mkdir(mode=0o700)
    with contextlib.closing(sqlite3.connect(directory / "master.db")) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE pairs (a INTEGER, b INTEGER)")
        db.commit()
    (directory / "identity").write_text("secret")
    return MasterProcess(directory)


def _pairs(path: Path) -> list[tuple[int, int]]:
    with contextlib.closing(sqlite3.connect(path)) as db:
        return list(db.execute("SELECT a, b FROM pairs ORDER BY a"))


def _write(path: Path, first: int, count: int) -> None:
    """Each transaction writes (n, -1) and then makes it (n, n): a copy must never hold a -1."""
    with contextlib.closing(sqlite3.connect(path, timeout=60)) as db:
        for number in range(first, first + count):
            db.execute("INSERT INTO pairs VALUES (?, -1)", (number,))
            db.execute("UPDATE pairs SET b = a WHERE a = ?", (number,))
            db.commit()


def test_a_backup_under_load_is_consistent(master: MasterProcess, tmp_path: Path) -> None:
    writer = threading.Thread(target=_write, args=(master.directory / "master.db", 0, 400))
    writer.start()
    for number in range(3):
        backup.write(master, tmp_path / f"{number}.tar.gz")
    writer.join()
    for number in range(3):
        with tarfile.open(tmp_path / f"{number}.tar.gz") as archive:
            tar.extract_all(archive, tmp_path / str(number))
        pairs = _pairs(tmp_path / str(number) / "master.db")
        assert pairs == [(n, n) for n in range(len(pairs))]


def test_a_backup_is_private_and_never_overwrites(master: MasterProcess, tmp_path: Path) -> None:
    target = tmp_path / "new" / "b.tar.gz"
    backup.write(master, target)
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(AlreadyExists, match="-o"):
        backup.write(master, target)
    assert sorted(p.name for p in master.directory.iterdir()) == ["identity", "master.db"]


def test_restoring_brings_back_the_database_and_keeps_the_one_that_was_there(
    master: MasterProcess, tmp_path: Path
) -> None:
    database = master.directory / "master.db"
    _write(database, 0, 3)
    backup.write(master, tmp_path / "b.tar.gz")
    _write(database, 3, 2)
    aside = backup.restore(master, tmp_path / "b.tar.gz")
    assert _pairs(database) == [(0, 0), (1, 1), (2, 2)]
    assert aside is not None
    assert len(_pairs(aside / "master.db")) == 5
    assert database.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"not a tar"])
def test_restoring_something_else_changes_nothing(master: MasterProcess, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InvalidArgument, match="nothing was changed"):
        backup.restore(master, tmp_path / "x")
    with tarfile.open(tmp_path / "y", "w:gz") as archive:
        archive.add(master.directory / "identity", "identity")
    with pytest.raises(InvalidArgument, match=r"no master\.db"):
        backup.restore(master, tmp_path / "y")
    assert _pairs(master.directory / "master.db") == []


def test_there_must_be_something_to_back_up(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nothing to back up"):
        backup.write(MasterProcess(tmp_path), tmp_path / "b.tar.gz")


def test_a_damaged_database_is_told_and_no_archive_is_left(master: MasterProcess, tmp_path: Path) -> None:
    (master.directory / "master.db").write_bytes(b"x" * 8192)
    with pytest.raises(FailedPrecondition, match="restore"):
        backup.write(master, tmp_path / "b.tar.gz")
    assert not (tmp_path / "b.tar.gz").exists()
