"""Root of the sitters' run directories: private to this user, cleared of what killed sitters left there."""

import contextlib
import logging
import os
import socket
import stat
from pathlib import Path

from determined.engines.host import directory
from determined.engines.host.directory import DirectoryState
from determined.errors import FailedPrecondition, Unavailable
from determined.rundir import lock
from determined.rundir.layout import RunDir

logger = logging.getLogger(__name__)

_SITTER = "sitter.lock"  # in a run directory: held as long as its sitter lives
_HOST = "sitter.host"  # beside it: where it lives; locks of other hosts cannot be seen on every shared file system
_NEW_SECONDS = 60.0  # a sitter that just begins holds no lock yet
_UNREPORTED_SECONDS = 24 * 3600.0  # records that never reached the master are kept this long


def make(root: Path) -> None:
    """Create the root.

    Raises FailedPrecondition when others could reach into it, Unavailable when it cannot be made.
    """
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = root.lstat()
    except OSError as e:
        raise Unavailable(f"run directories cannot be kept in {root}: {e}; choose another place") from e
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise FailedPrecondition(f"{root} is no directory of uid {os.geteuid()}; choose another place for runs")
    if status.st_mode & 0o022:
        raise FailedPrecondition(f"{root} can be written by others; take that right away or choose another place")


def occupy(run_dir: RunDir) -> lock.Lock | None:
    """Mark the directory as one of a living sitter of this host, for as long as the lock is held."""
    (run_dir.path / _HOST).write_text(socket.gethostname())
    return lock.hold(run_dir.path / _SITTER)


def sweep(root: Path, now: float) -> None:
    """Remove the directories of runners whose sitters are gone. `now`: seconds since the epoch, as of files."""
    for path in root.glob(".new-*"):
        _remove_if(RunDir(path), now, _NEW_SECONDS)
    for run_dir in directory.listing(root):
        if not _is_elsewhere(run_dir) and not _is_occupied(run_dir):
            is_reported = directory.find(run_dir) is DirectoryState.DONE or directory.is_drained(run_dir)
            _remove_if(run_dir, now, _NEW_SECONDS if is_reported else _UNREPORTED_SECONDS)
    for path in (root / directory.LOST).glob("*"):
        _remove_if(RunDir(path), now, _UNREPORTED_SECONDS)


def _is_elsewhere(run_dir: RunDir) -> bool:
    with contextlib.suppress(OSError):
        return (run_dir.path / _HOST).read_text() != socket.gethostname()
    return False


def _is_occupied(run_dir: RunDir) -> bool:
    with contextlib.suppress(OSError):
        return lock.is_held(run_dir.path / _SITTER) or lock.is_held(run_dir.lock)
    return False


def _remove_if(run_dir: RunDir, now: float, age: float) -> None:
    if now - _last_touched(run_dir) > age:
        logger.info("removing %s: its sitter is gone", run_dir.path)
        directory.remove(run_dir)


def _last_touched(run_dir: RunDir) -> float:
    places = [run_dir.path, run_dir.runner_log, run_dir.journals]
    with contextlib.suppress(OSError):
        places += list(run_dir.journals.iterdir())
    times = [0.0]
    for place in places:
        with contextlib.suppress(OSError):
            times.append(place.lstat().st_mtime)
    return max(times)
