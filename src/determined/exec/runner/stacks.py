"""The stacks of a task's processes, as far as they can be had without stopping any of them."""

import os
import time
from pathlib import Path

from determined.rundir.pulse import STACK_SIGNAL, Reading

_PROC = Path("/proc")
_ANSWER_SECONDS = 2.0
_LOOK_SECONDS = 0.02
_SHOWN_WORDS = 160


def ask(process: Reading) -> list[str] | None:
    """All threads' stacks; None when the process does not answer, or would die of the question."""
    if STACK_SIGNAL is None or not _catches(process.pid, STACK_SIGNAL):
        return None
    before = _size(process.stacks)
    try:
        os.kill(process.pid, STACK_SIGNAL)
    except OSError:
        return None
    return _written(process.stacks, before)


def described(pid: int) -> str:
    """A process that tells nothing itself: what it is and what it waits for, as the kernel sees it."""
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


def _written(path: Path, before: int) -> list[str] | None:
    """What is appended, once it has stopped growing."""
    deadline, seen = time.monotonic() + _ANSWER_SECONDS, before
    while time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
        size = _size(path)
        if size == seen and size > before:
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
