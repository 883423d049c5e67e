"""Detection of tasks that ran out of memory, from the kernel's counters and the last output of the task."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from determined.constants import GPU_MEMORY_ADVICE, GPU_OOM_LABEL, HOST_MEMORY_ADVICE, HOST_OOM_LABEL

_CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_SIGKILL_STATUS = 137
_EVIDENCE_CHARACTERS = 300
_UNLIMITED = 1 << 60  # cgroup v1 writes "no limit" as a number near 2^63
_SHARED_MEMORY_ADVICE = "raise resources.shm_size, or lower num_workers of the data loaders"

_GPU = re.compile(
    r"\bOutOfMemoryError\b|(CUDA|HIP|XPU) out of memory|(CUDA|HIP) error: out of memory|backend out of memory"
    r"|cudaErrorMemoryAllocation|_STATUS_ALLOC_FAILED|OOM when allocating tensor"
    r"|RESOURCE_EXHAUSTED.*([Oo]ut of memory|OOM|[Aa]llocat)"
)
_HOST = re.compile(
    r"^(\w+\.)*_?(Array)?MemoryError\b|DefaultCPUAllocator: (can't allocate|not enough) memory|\bstd::bad_alloc\b"
    r"|\[Errno 12\] Cannot allocate memory"
)
_SHARED = re.compile(r"shared memory ?\(shm\)|workers are out of shared memory")
_TRACEBACK = "Traceback (most recent call last):"
# How a process fails whose own processes failed before it: what ended those was printed earlier.
_OF_OTHERS = re.compile(r"^(\w+\.)*(ChildFailedError|CalledProcessError|Process(Raised|Exited)Exception)\b")
# A process that was killed below one that went on long enough to fail of it.
_KILLED = re.compile(r"\bSIGKILL\b|\bKilled\b|exitcode\s*: -9\b|\bsignal 9\b|terminated abruptly")


@dataclass(frozen=True, slots=True)
class Shortage:
    """Shortage of memory that ended a task.

    `label` is for the trial, `what` one line that names the memory and the evidence, `advice` what to change.
    """

    label: str
    what: str
    advice: str


class KillCount:
    """Processes of our cgroup, and so of the task, that the kernel has ended for lack of memory since this was made."""

    def __init__(self, cgroups: Path = _CGROUPS, membership: Path = _MEMBERSHIP) -> None:
        self._directory, self._file = _counter(cgroups, membership)
        self._first = self._count()

    def since(self) -> int:
        return max(0, self._count() - self._first)

    def limit(self) -> int | None:
        """Return the bytes that the cgroup may have; None where nothing limits it."""
        for name in ("memory.max", "memory.limit_in_bytes"):
            text = _text(self._directory / name) if self._directory is not None else None
            if text is not None and text.strip().isdigit() and int(text) < _UNLIMITED:
                return int(text)
        return None

    def _count(self) -> int:
        text = _text(self._file) if self._file is not None else None
        match = re.search(r"^oom_kill (\d+)$", text or "", re.MULTILINE)
        return int(match[1]) if match else 0


def find_shortage(statuses: Iterable[int], lines: Sequence[str], kills: KillCount) -> Shortage | None:
    """Return the memory shortage that ended the task, or None.

    `statuses`: of the entrypoint and of the rank that failed first; `lines`: the last ones of the task. A cgroup may
    hold
    the tasks of others: its count alone proves nothing, a process of ours must have been killed.
    """
    was_killed = _SIGKILL_STATUS in statuses or _last(_KILLED, lines) is not None
    if was_killed and (count := kills.since()):
        limit = kills.limit()
        room = "" if limit is None else f" (its limit is {limit / 2**20:.0f} MiB)"
        who = "a process" if count == 1 else f"{count} processes"
        what = f"out of memory on the host: the kernel ended {who} of this task's cgroup{room}"
        return Shortage(HOST_OOM_LABEL, what, HOST_MEMORY_ADVICE)
    return _said(lines)


def _said(lines: Sequence[str]) -> Shortage | None:
    last = lines[_final_error(lines) :]
    # A loading worker that dies of it says so before its parent finds it dead.
    is_of_worker = any("DataLoader worker" in line for line in last)
    known = (
        (_SHARED, HOST_OOM_LABEL, "out of shared memory on the host", _SHARED_MEMORY_ADVICE),
        (_GPU, GPU_OOM_LABEL, "out of memory on the accelerator", GPU_MEMORY_ADVICE),
        (_HOST, HOST_OOM_LABEL, "out of memory on the host", HOST_MEMORY_ADVICE),
    )
    for pattern, label, what, advice in known:
        evidence = _last(pattern, lines if pattern is _SHARED and is_of_worker else last)
        if evidence is not None:
            return Shortage(label, f"{what}: {evidence[:_EVIDENCE_CHARACTERS]}", advice)
    return None


def _final_error(lines: Sequence[str]) -> int:
    """Return the number of the error line of the exception that ended the task; 0 where none did.

    Exceptions before it were caught, or are its causes. Lines after it may come from native code.
    """
    for start in reversed([number for number, line in enumerate(lines) if _TRACEBACK in line]):
        below = range(start + 1, len(lines))
        error = next((number for number in below if lines[number][:1].strip()), start)
        if not _OF_OTHERS.search(lines[error]):
            return error
    return 0


def _last(pattern: re.Pattern[str], lines: Sequence[str]) -> str | None:
    return next((line for line in reversed(lines) if pattern.search(line)), None)


def _counter(cgroups: Path, membership: Path) -> tuple[Path | None, Path | None]:
    """Return (directory, file with the count) of our cgroup in either version; its nearest parent that counts."""
    paths = dict(_memberships(_text(membership) or ""))
    for controller, base, name in (
        ("memory", cgroups / "memory", "memory.oom_control"),
        ("", cgroups, "memory.events"),
    ):
        if controller not in paths:
            continue
        own = base / paths[controller].lstrip("/")
        # Inside a container the path may be the host's, while what is mounted is our own cgroup: the last candidate.
        for directory in (own, *(p for p in own.parents if p.is_relative_to(base))):
            if (directory / name).is_file():
                return directory, directory / name
    return None, None


def _memberships(text: str) -> Iterable[tuple[str, str]]:
    """Yield (controller, path); the second version has one path, of the controller ''."""
    for line in text.splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        for controller in controllers.split(","):
            yield controller, path


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None
