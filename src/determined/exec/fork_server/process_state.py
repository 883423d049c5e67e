"""State of this process that an import must not change, because all forks would share it."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc/self")
_OF_THREADS = 3 << 31  # signals 32 and 33, which the C library keeps to itself
_ACCELERATORS = ("/dev/nvidia", "/dev/kfd")


@dataclass(frozen=True, slots=True)
class ProcessState:
    threads: int
    children: tuple[str, ...]
    descriptors: frozenset[str]
    signals: tuple[int, ...]  # masks of blocked, ignored and caught ones
    umask: str
    cwd: str
    has_made_files: bool  # temporary ones


# What an import may not do, and the part of the state that tells of it.
_TELLTALES = (
    ("starts threads", "threads"),
    ("starts processes", "children"),
    ("leaves files or sockets open", "descriptors"),
    ("changes the handling of signals", "signals"),
    ("changes the umask", "umask"),
    ("changes the working directory", "cwd"),
    ("makes temporary files", "has_made_files"),
)


def read() -> ProcessState:
    """Read the state from /proc."""
    status = dict(line.partition(":\t")[::2] for line in (_PROC / "status").read_text().splitlines())
    return ProcessState(
        int(status["Threads"]),
        tuple((_PROC / "task" / str(os.getpid()) / "children").read_text().split()),
        frozenset(os.listdir(_PROC / "fd")),  # noqa: PTH208 (after each of a thousand imports)
        tuple(int(status[name], 16) & ~_OF_THREADS for name in ("SigBlk", "SigIgn", "SigCgt")),
        status["Umask"],
        str(Path.cwd()),
        vars(tempfile)["_name_sequence"] is not None,  # what every temporary file takes its name from
    )


def difference(before: ProcessState, after: ProcessState) -> str | None:
    """Return in words what an import has left behind; None for nothing."""
    return next((words for words, part in _TELLTALES if getattr(before, part) != getattr(after, part)), None)


def end_idle_threads() -> None:
    """End the threads of libraries that do this by themselves before each fork (OpenBLAS), by a fork."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def uses_accelerator() -> bool:
    """Check whether a driver of an accelerator is in use: its state would not survive a fork."""
    maps = (_PROC / "maps").read_text()
    return any(name in maps for name in _ACCELERATORS)
