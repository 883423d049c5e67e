"""Readings of a fork server: its memory and threads, the machine's memory, and the files of what it has imported."""

import os
import re
import time
from pathlib import Path

from determined.exec.fork_server import preload
from determined.exec.fork_server.retirement import Readings

_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")
_FILES_SECONDS = 0.5  # all files are looked at again after so long: a thousand of them take milliseconds


class Watch:
    """Watch over one server. Make it when everything is imported."""

    def __init__(self) -> None:
        self._stamps = preload.file_stamps()
        packages = tuple(path for path in self._stamps if "site-packages" not in path or Path(path).is_dir())
        self._always = packages  # directories of packages, and files that people edit where they lie
        self._files_at = self._used_at = time.monotonic()
        self._resident_at_start = _resident()
        self.forks = 0

    def use(self) -> None:
        """Count one fork."""
        self.forks += 1
        self._used_at = time.monotonic()

    def read(self) -> Readings:
        """Read everything that counts."""
        return Readings(
            idle_seconds=time.monotonic() - self._used_at,
            forks=self.forks,
            threads=len(list((_PROC / "self/task").iterdir())),
            resident=_resident(),
            resident_at_start=self._resident_at_start,
            available_share=available_share(),
            pressure=_pressure(),
            changed_file=self._changed(),
        )

    def _changed(self) -> str | None:
        now = time.monotonic()
        is_due = now - self._files_at >= _FILES_SECONDS
        if is_due:
            self._files_at = now
        paths = self._stamps if is_due else self._always
        return next((path for path in paths if preload.stamp_of(path) != self._stamps[path]), None)


def _resident() -> int:
    return int((_PROC / "self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def available_share(proc: Path = _PROC, cgroups: Path = _CGROUPS) -> float | None:
    """Return the share of the memory that is available: of the machine's, or of our cgroup's where that is less."""
    shares = [_share_of_machine(proc), _share_of_cgroup(proc, cgroups)]
    return min((share for share in shares if share is not None), default=None)


def _share_of_machine(proc: Path) -> float | None:
    numbers = dict(re.findall(r"^(Mem\w+):\s+(\d+)", _text(proc / "meminfo"), re.MULTILINE))
    if not {"MemAvailable", "MemTotal"} <= numbers.keys():
        return None
    return int(numbers["MemAvailable"]) / int(numbers["MemTotal"])


def _share_of_cgroup(proc: Path, cgroups: Path) -> float | None:
    """Return what is left of the limit of our cgroup (version 2); cached files count as available."""
    path = re.search(r"^0::/(.*)$", _text(proc / "self/cgroup"), re.MULTILINE)
    # Inside a container the path may be the host's, while what is mounted is our own cgroup.
    for directory in (cgroups / path[1], cgroups) if path else ():
        limit, used = _text(directory / "memory.max").strip(), _text(directory / "memory.current").strip()
        if limit.isdigit() and used.isdigit() and int(limit) > 0:
            cached = re.search(r"^inactive_file (\d+)$", _text(directory / "memory.stat"), re.MULTILINE)
            return (int(limit) - int(used) + (int(cached[1]) if cached else 0)) / int(limit)
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _pressure() -> float | None:
    """Return the share of the last 10 s in which a process waited for memory, in per cent."""
    match = re.match(r"some avg10=([\d.]+)", _text(_PROC / "pressure/memory"))
    return float(match[1]) if match else None
