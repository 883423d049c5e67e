"""Readings of a fork server: its memory and threads, the machine's memory, and the files of what it has imported."""

import os
import re
import time
from pathlib import Path

from determined.exec.fork_server import preload
from determined.exec.fork_server.retirement import Readings

_PROC = Path("/proc")
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
            available_share=_available_share(),
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


def _available_share() -> float | None:
    try:
        numbers = dict(re.findall(r"^(Mem\w+):\s+(\d+)", (_PROC / "meminfo").read_text(), re.MULTILINE))
        return int(numbers["MemAvailable"]) / int(numbers["MemTotal"])
    except (OSError, KeyError):
        return None


def _pressure() -> float | None:
    """Return the share of the last 10 s in which a process waited for memory, in per cent."""
    try:
        match = re.match(r"some avg10=([\d.]+)", (_PROC / "pressure/memory").read_text())
    except OSError:
        return None
    return float(match[1]) if match else None
