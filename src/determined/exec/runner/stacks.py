"""The stacks of a task's processes, as far as they can be had without stopping any of them."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from determined.rundir.heartbeat import STACK_SIGNAL, Reading

_PROC = Path("/proc")
_ANSWER_SECONDS = 2.0
_LOOK_SECONDS = 0.02
_SHOWN_WORDS = 160
_AWAY = ("SigPnd:", "ShdPnd:", "SigBlk:")  # signals that a thread has yet to hear, in its /proc/.../status


def ask(process: Reading) -> list[str] | None:
    """Request all threads' stacks; None when the process does not answer, or would die of the signal."""
    number = STACK_SIGNAL
    if number is None or not _catches(process.pid, number):
        return None
    before, busy = _size(process.stacks), _busy(process.pid, number)
    try:
        os.kill(process.pid, number)
    except OSError:
        return None
    return _written(process.stacks, before, lambda: _busy(process.pid, number) <= busy)


def described(pid: int) -> str:
    """Describe a process that does not answer: what it is and what it waits for, as the kernel sees it."""
    words = _read(pid, "cmdline").replace("\0", " ").strip() or _read(pid, "comm").strip()
    state = next((line.split(":")[1].strip() for line in _read(pid, "status").splitlines() if "State:" in line), "gone")
    waits = _read(pid, "wchan").strip()
    place = f", waits in {waits}" if waits not in ("", "0") else ""
    return f"process {pid} ({words[:_SHOWN_WORDS]}): {state}{place}"


def _catches(pid: int, number: int) -> bool:
    for line in _read(pid, "status").splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def _busy(pid: int, number: int) -> set[str]:
    """Return the threads that the signal is pending for, or that block it, as one does while it answers."""
    pids = set()
    for thread in (_PROC / str(pid) / "task").glob("*"):
        lines = _read(pid, f"task/{thread.name}/status").splitlines()
        masks = [int(line.split()[1], 16) for line in lines if line.startswith(_AWAY)]
        if any(mask >> (number - 1) & 1 for mask in masks):
            pids.add(thread.name)
    return pids


def _written(path: Path, before: int, is_over: Callable[[], bool]) -> list[str] | None:
    """Return the appended lines once the file has stopped growing.

    A process that waits for a processor pauses in between: `is_over` tells that from the end.
    """
    deadline, seen = time.monotonic() + _ANSWER_SECONDS, before
    while time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
        size = _size(path)
        if size == seen and size > before and is_over():
            break
        seen = size
    try:
        with path.open("rb") as file:
            file.seek(before)
            return file.read().decode(errors="replace").splitlines() or None
    except OSError:
        return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _read(pid: int, name: str) -> str:
    try:
        return (_PROC / str(pid) / name).read_text(errors="replace")
    except OSError:
        return ""
