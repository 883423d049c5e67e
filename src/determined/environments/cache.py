"""The environments on this machine: which there are, who uses them, and which of them go.

An environment lies in `<key>/` and exists once its record `<key>/determined.json` does, which is written last. Its lock
`<key>.lock` is shared by all who use it and held alone by whoever builds or removes it.
"""

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from determined.environments.cache_directory import Bounds, Place

FORMAT = 2
_RECORD = "determined.json"
_DAY = 86400.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Cached:
    """Environment that is ready. `used`: when a task last began with it, seconds since the epoch."""

    path: Path
    record: dict[str, Any]
    used: float

    @property
    def key(self) -> str:
        return self.path.name

    @property
    def python(self) -> str:
        return str(self.path / "bin" / "python")

    @property
    def size(self) -> int:
        return int(self.record["size"])


class Hold:
    """A lock file, held as long as the descriptor is open here or in a child that inherited it."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = path
        self.descriptor = self._open()

    def share(self) -> bool:
        return self._take(fcntl.LOCK_SH)

    def take(self) -> bool:
        """Try to take the lock exclusively."""
        return self._take(fcntl.LOCK_EX)

    def await_turn(self) -> None:
        """Wait for the lock and take it exclusively."""
        while not self.take():
            time.sleep(_POLL_SECONDS)

    def release(self) -> None:
        fcntl.flock(self.descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self.descriptor)

    def _take(self, kind: int) -> bool:
        try:
            fcntl.flock(self.descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        if self._is_current():
            return True
        # A cleanup has removed the file since we opened it: our lock protects nothing.
        os.close(self.descriptor)
        self.descriptor = self._open()
        return self._take(kind)

    def _open(self) -> int:
        return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self.descriptor), self._path.lstat())
        except FileNotFoundError:
            return False


def lock_of(place: Place, key: str) -> Path:
    return place.environments / f"{key}.lock"


def read(path: Path) -> Cached | None:
    """Read the environment in that directory, if it is whole and its interpreter is still there."""
    file = path / _RECORD
    try:
        record, used = json.loads(file.read_bytes()), file.stat().st_mtime
    except (OSError, ValueError):
        return None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        return None
    cached = Cached(path, record, used)
    return cached if os.access(cached.python, os.X_OK) else None


def publish(path: Path, record: dict[str, Any]) -> None:
    """Write the record of a finished environment; it exists from then on."""
    fresh = path / f"{_RECORD}.new"
    fresh.write_text(json.dumps({"format": FORMAT, **record}))
    fresh.rename(path / _RECORD)


def touch(cached: Cached, now: float) -> None:
    with contextlib.suppress(OSError):  # a cache that is only readable is still good
        os.utime(cached.path / _RECORD, (now, now))


def remove(path: Path) -> None:
    """Remove an environment, its record first: half of an environment must not look like one."""
    (path / _RECORD).unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)


def size_of(path: Path) -> int:
    """Return the bytes of its files. Many are links into uv's own cache, and then cost nothing twice."""
    total = 0
    pending = [str(path)]
    while pending:
        for entry in os.scandir(pending.pop()):
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            else:
                total += entry.stat(follow_symlinks=False).st_size
    return total


def list_cached(place: Place) -> list[Cached]:
    """List the environments, the longest unused first."""
    directories = sorted(place.environments.iterdir()) if place.environments.is_dir() else []
    environments = [cached for path in directories if path.is_dir() and (cached := read(path)) is not None]
    return sorted(environments, key=lambda cached: cached.used)


def is_used(place: Place, key: str) -> bool:
    """Check whether a task runs in the environment, or a process builds it."""
    hold = Hold(lock_of(place, key))
    try:
        return not hold.take()
    finally:
        hold.close()


def clean(place: Place, now: float, bounds: Bounds, keys: Sequence[str] | None = None) -> list[Cached]:
    """Remove what is beyond the bounds (`keys`: of these alone) and nobody uses; what went."""
    _remove_unfinished(place)
    candidates = [cached for cached in list_cached(place) if keys is None or cached.key in keys]
    gone = []
    left = sum(cached.size for cached in candidates)
    for cached in candidates:
        is_old = now - cached.used >= bounds.days * _DAY
        if (is_old or left > bounds.size) and _remove_unused(place, cached.key):
            gone.append(cached)
            left -= cached.size
    return gone


def forget_resolutions(place: Place, now: float, days: float) -> None:
    for path in _files(place.resolutions):
        with contextlib.suppress(FileNotFoundError):
            if now - path.stat().st_mtime >= days * _DAY:
                path.unlink()


def _remove_unfinished(place: Place) -> None:
    """Remove what killed or failed builders left, also locks without an environment. Builds in progress are locked."""
    directories = list(place.environments.iterdir()) if place.environments.is_dir() else []
    for key in sorted({path.name.removesuffix(".lock") for path in directories}):
        if read(place.environments / key) is None:
            _remove_unused(place, key)


def _remove_unused(place: Place, key: str) -> bool:
    hold = Hold(lock_of(place, key))
    try:
        if not hold.take():
            return False
        remove(place.environments / key)
        lock_of(place, key).unlink(missing_ok=True)
        return True
    finally:
        hold.close()


def _files(directory: Path) -> Iterator[Path]:
    return (path for path in directory.iterdir() if path.is_file()) if directory.is_dir() else iter(())
