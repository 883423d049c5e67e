"""Memory of this machine that is free for a copy of a trial's state, as the kernel and the limits of cgroups see it."""

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
# Kept free, for what the training and others need while the copy exists: a tenth of all memory, and no more than this.
_MOST_MARGIN = 4 << 30


@dataclass(frozen=True, slots=True)
class FreeMemory:
    """Bytes that may be used. `total` is what the machine has, or the tightest cgroup allows."""

    free: int
    total: int

    @property
    def spare(self) -> int:
        """Return how much a copy may take, so that a margin stays free."""
        return max(0, self.free - min(self.total // 10, _MOST_MARGIN))


def free_memory(
    meminfo: Path = _MEMINFO, cgroups: Path = _CGROUPS, membership: Path = _MEMBERSHIP
) -> FreeMemory | None:
    """Return the memory of this process's machine and cgroups; None where the system does not tell."""
    numbers = _numbers(meminfo)
    if "MemAvailable" not in numbers or "MemTotal" not in numbers:
        return None
    free, total = numbers["MemAvailable"] * 1024, numbers["MemTotal"] * 1024
    for directory in _directories(cgroups, membership):
        limit, used = _limit_and_use(directory)
        if limit is not None and limit < total:
            total = limit
        if limit is not None:
            free = min(free, max(0, limit - used))
    return FreeMemory(free, total)


def _directories(cgroups: Path, membership: Path) -> list[Path]:
    """Return the directories of our cgroup and of those around it, in either version of cgroups.

    Inside a container the path may be the host's, while what is mounted is our own cgroup: the last one.
    """
    directories = []
    for line in (_text(membership) or "").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        base = cgroups / "memory" if controllers else cgroups
        own = base / path.lstrip("/")
        directories += [own, *(parent for parent in own.parents if parent.is_relative_to(base))]
    return directories


def _limit_and_use(directory: Path) -> tuple[int | None, int]:
    """Return the limit and the bytes in use; pages of files that the kernel would drop first do not count as used."""
    for limit_name, use_name, dropped_first in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        limit, used = _number(directory / limit_name), _number(directory / use_name)
        if limit is not None and used is not None:
            return limit, used - _numbers(directory / "memory.stat").get(dropped_first, 0)
    return None, 0


def _numbers(file: Path) -> dict[str, int]:
    """Return the lines `name number` or `name: number` of a file of the kernel's."""
    return {name: int(number) for name, number in re.findall(r"^(\w+):?\s+(\d+)", _text(file) or "", re.MULTILINE)}


def _number(file: Path) -> int | None:
    text = (_text(file) or "").strip()
    return int(text) if text.isdigit() else None


def _text(file: Path) -> str | None:
    with contextlib.suppress(OSError):
        return file.read_text()
    return None
