"""A memory cgroup of its own for a process and all that it starts, where the machine lets us make one."""

import contextlib
import os
import time
from pathlib import Path

# Of the first and the second version of cgroups.
_PLACES = (
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
    (Path("/sys/fs/cgroup"), "memory.max"),
)


class Cage:
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def take(self, pid: int) -> None:
        """Limit this process and those that it starts from now on."""
        (self._directory / "cgroup.procs").write_text(str(pid))

    def remove(self) -> None:
        """Remove the group once all its processes are gone; the kernel needs a moment to notice."""
        for _ in range(100):
            with contextlib.suppress(OSError):
                self._directory.rmdir()
                return
            time.sleep(0.05)


def make_cage(limit_bytes: int) -> Cage | None:
    """None without the right to make one."""
    for base, limit in _PLACES:
        if not (base / "cgroup.procs").exists():
            continue
        directory = base / f"determined-test-{os.getpid()}"
        with contextlib.suppress(OSError):
            directory.mkdir()
            try:
                (directory / limit).write_text(str(limit_bytes))
            except OSError:
                directory.rmdir()
                continue
            return Cage(directory)
    return None
