"""Copies of a master's database and settings: made while it runs, put back while it does not."""

import contextlib
import gzip
import os
import shutil
import sqlite3
import tarfile
import tempfile
import zlib
from pathlib import Path

from determined.deploy.process import MasterProcess
from determined.errors import AlreadyExists, FailedPrecondition, InvalidArgument, NotFound
from determined.rundir import tar

_DATABASE = "master.db"
_BLOCK = 1024 * 1024
_SETTINGS = ("state.json", "master.yaml", "identity", "options.json")


def write(master: MasterProcess, target: Path) -> None:
    """Write a consistent copy of database and settings (not of checkpoint files), whatever is written meanwhile."""
    source = master.directory / _DATABASE
    if not source.exists():
        raise NotFound(f"no database at {source}; nothing to back up. PostgreSQL is backed up with pg_dump")
    if target.exists():
        raise AlreadyExists(f"{target} exists already; remove it or name another file with -o")
    with tempfile.TemporaryDirectory(dir=master.directory) as scratch:
        copy = Path(scratch) / _DATABASE
        _copy_database(source, copy)
        settings = [p for name in _SETTINGS if (p := master.directory / name).exists()]
        packed = Path(scratch) / "backup.tar.gz"
        os.close(os.open(packed, os.O_WRONLY | os.O_CREAT, 0o600))
        with tarfile.open(packed, mode="w:gz") as archive:
            for path in (copy, *settings):
                archive.add(path, path.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        # made before it is filled: on another file system a move is a copy, which others could read meanwhile
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        shutil.move(packed, target)
    target.chmod(0o600)


def restore(master: MasterProcess, source: Path) -> Path | None:
    """Put a backup in place of the database. Returns where the one that was there now lies.

    Raises:
        FailedPrecondition: the master runs.
        InvalidArgument: the file is not a backup; nothing was changed.
    """
    if master.find() is not None:
        raise FailedPrecondition(
            "the master is running; stop it first with: det master stop, or of a cluster: det deploy local cluster-down"
        )
    master.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=master.directory) as scratch:
        unpacked = Path(scratch)
        _unpack(source, unpacked)
        aside = _put_aside(master.directory)
        for name in (_DATABASE, *_SETTINGS):
            if (unpacked / name).exists():
                (unpacked / name).chmod(0o600)
                (unpacked / name).replace(master.directory / name)
    return aside


def _copy_database(source: Path, copy: Path) -> None:
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT, 0o600))
    try:
        with (
            contextlib.closing(sqlite3.connect(source, timeout=60)) as db,
            contextlib.closing(sqlite3.connect(copy)) as out,
        ):
            db.backup(out)
    except sqlite3.DatabaseError as e:
        raise FailedPrecondition(f"{source} cannot be read ({e}); restore an earlier backup: det master restore") from e


def _unpack(source: Path, target: Path) -> None:
    if not source.is_file():
        raise NotFound(f"no backup at {source}")
    try:
        with gzip.open(source) as packed, tarfile.open(fileobj=packed, mode="r:") as archive:
            tar.extract_all(archive, target)
            while packed.read(_BLOCK):  # to the end, where the checksum is: tarfile stops before it
                pass
    except (tarfile.TarError, OSError, EOFError, zlib.error) as e:
        raise InvalidArgument(f"{source} is not a backup ({e}); nothing was changed") from e
    if not (target / _DATABASE).exists():
        raise InvalidArgument(f"{source} holds no {_DATABASE}, so it is not a backup; nothing was changed")


def _put_aside(directory: Path) -> Path | None:
    """Move the present database away with its side files, which would otherwise be applied to the restored one."""
    present = sorted(p for p in directory.glob(f"{_DATABASE}*") if p.is_file())
    if not present:
        return None
    aside = Path(tempfile.mkdtemp(prefix="before-restore-", dir=directory))
    for path in present:
        path.replace(aside / path.name)
    return aside
