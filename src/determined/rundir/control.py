"""A page shared by the runner and the processes of its task: flags both sides see at once, without a system call."""

import mmap
import os
from pathlib import Path

_PAGE_BYTES = 4096
_PREEMPT, _KILL, _AWARE, _MASTER_AWAY, _ATTACHED, _INVALID_HP = 0, 1, 2, 3, 4, 5


class Control:
    """Control file of a task. Each flag is one byte with one writing side, so no lock is needed.

    preempt (runner -> user): the master wants this task to save and leave.
    kill (runner -> user): the task is being ended; it gets SIGTERM, then SIGKILL.
    attached (user -> runner): this script has a core context; it may yet ask about preemption.
    aware (user -> runner): this script has asked about preemption; do not end it with SIGTERM on a pause.
    master_away (runner -> user): the master does not answer now; waiting for acknowledgements may take long.
    invalid_hp (user -> launcher): a rank found its hyperparameters invalid; peers that fail from now on fail of that.
    """

    def __init__(self, mapped: mmap.mmap) -> None:
        self._mapped = mapped

    @classmethod
    def open(cls, path: Path) -> "Control":
        """Map the page, creating it with all flags down; any number of processes may open it."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            # Growing twice to the same size is harmless; allocated, because a hole faults on a full disk.
            os.ftruncate(descriptor, _PAGE_BYTES)
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, _PAGE_BYTES)
            return cls(mmap.mmap(descriptor, _PAGE_BYTES))
        finally:
            os.close(descriptor)

    @property
    def preempt(self) -> bool:
        return self._mapped[_PREEMPT] != 0

    @preempt.setter
    def preempt(self, value: bool) -> None:
        self._mapped[_PREEMPT] = value

    @property
    def kill(self) -> bool:
        return self._mapped[_KILL] != 0

    @kill.setter
    def kill(self, value: bool) -> None:
        self._mapped[_KILL] = value

    @property
    def aware(self) -> bool:
        return self._mapped[_AWARE] != 0

    @aware.setter
    def aware(self, value: bool) -> None:
        self._mapped[_AWARE] = value

    @property
    def master_away(self) -> bool:
        return self._mapped[_MASTER_AWAY] != 0

    @master_away.setter
    def master_away(self, value: bool) -> None:
        self._mapped[_MASTER_AWAY] = value

    @property
    def attached(self) -> bool:
        return self._mapped[_ATTACHED] != 0

    @attached.setter
    def attached(self, value: bool) -> None:
        self._mapped[_ATTACHED] = value

    @property
    def invalid_hp(self) -> bool:
        return self._mapped[_INVALID_HP] != 0

    @invalid_hp.setter
    def invalid_hp(self, value: bool) -> None:
        self._mapped[_INVALID_HP] = value

    def close(self) -> None:
        self._mapped.close()
