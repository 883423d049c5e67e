"""Heartbeats of training processes: a counter each in shared memory, and a file for its stacks on demand.

A beat costs no system call. The runner sees which process has stopped, and asks it for its stacks by a signal that
nobody else uses: SIGUSR1 may mean something to the user's own code.
"""

import mmap
import os
import signal
from dataclasses import dataclass
from pathlib import Path

# None where the platform has no such signals; nothing is asked there.
STACK_SIGNAL: int | None = signal.SIGRTMIN + 11 if hasattr(signal, "SIGRTMIN") else None
_PAGE_BYTES = 4096
_RANK, _BEATS = 0, 1  # indexes of 8-byte words
_PAGE, _STACKS = ".pulse", ".stacks"


@dataclass(frozen=True, slots=True)
class Reading:
    pid: int
    rank: int
    beats: int
    stacks: Path


class Heartbeat:
    """Heartbeat of one process. A forked child that beats counts as its parent."""

    def __init__(self, directory: Path, rank: int) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.stacks = directory / f"{os.getpid()}{_STACKS}"
        self.stacks.touch(mode=0o600)
        content = rank.to_bytes(8, "little").ljust(_PAGE_BYTES, b"\0")
        descriptor = os.open(directory / f"{os.getpid()}{_PAGE}", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            # Written, not grown: a hole faults on a full disk.
            os.pwrite(descriptor, content, 0)
            self._words = memoryview(mmap.mmap(descriptor, _PAGE_BYTES)).cast("Q")
        finally:
            os.close(descriptor)

    def beat(self) -> None:
        self._words[_BEATS] += 1


def readings(directory: Path) -> list[Reading]:
    """Return the heartbeat of every process that ever had one in this run."""
    if not directory.is_dir():
        return []
    readings = []
    for page in directory.glob(f"*{_PAGE}"):
        content = page.read_bytes()
        if len(content) == _PAGE_BYTES and page.stem.isdigit():
            words = memoryview(content).cast("Q")
            readings.append(Reading(int(page.stem), words[_RANK], words[_BEATS], page.with_suffix(_STACKS)))
    return sorted(readings, key=lambda reading: reading.rank)
