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


def test_a_backup_that_was_damaged_anywhere_is_refused_or_as_good_as_before(
    master: MasterProcess, tmp_path: Path
) -> None:
    database = master.directory / "master.db"
    _write(database, 0, 50)
    backup.write(master, tmp_path / "b.tar.gz")
    whole = (tmp_path / "b.tar.gz").read_bytes()
    refused = 0
    for place in range(0, len(whole), 11):
        (tmp_path / "bad").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            backup.restore(master, tmp_path / "bad")
        except InvalidArgument as e:
            assert "nothing was changed" in e.message
            refused += 1
        assert _pairs(database) == [(n, n) for n in range(50)], place
    assert refused > 10


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
def test_a_backup_that_was_cut_short_is_refused(master: MasterProcess, tmp_path: Path, part: float) -> None:
    backup.write(master, tmp_path / "b.tar.gz")
    whole = (tmp_path / "b.tar.gz").read_bytes()
    (tmp_path / "short").write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(InvalidArgument, match="nothing was changed"):
        backup.restore(master, tmp_path / "short")


def test_an_archive_that_climbs_out_of_its_directory_is_refused(master: MasterProcess, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "evil", "w:gz") as archive:
        archive.add(master.directory / "master.db", "master.db")
        archive.add(master.directory / "identity", "../identity")
    with pytest.raises(InvalidArgument, match="nothing was changed"):
        backup.restore(master, tmp_path / "evil")
    assert (master.directory / "identity").read_text() == "secret"


def test_a_missing_backup_is_named(master: MasterProcess, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no backup at .*none\.tar\.gz"):
        backup.restore(master, tmp_path / "none.tar.gz")
    with pytest.raises(NotFound, match="no backup at"):
        backup.restore(master, tmp_path)


def test_a_backup_is_restored_where_no_master_ever_was(master: MasterProcess, tmp_path: Path) -> None:
    _write(master.directory / "master.db", 0, 2)
    backup.write(master, tmp_path / "b.tar.gz")
    fresh = MasterProcess(tmp_path / "new" / "home")
    assert backup.restore(fresh, tmp_path / "b.tar.gz") is None
    assert _pairs(fresh.directory / "master.db") == [(0, 0), (1, 1)]
    assert (fresh.directory / "identity").read_text() == "secret"
    assert (fresh.directory / "identity").stat().st_mode & 0o777 == 0o600


def test_nothing_is_restored_under_a_running_master(
    master: MasterProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup.write(master, tmp_path / "b.tar.gz")
    monkeypatch.setattr(master, "find", object)
    with pytest.raises(FailedPrecondition, match="det master stop"):
        backup.restore(master, tmp_path / "b.tar.gz")
