"""Process of a runner that this engine has started: a child of ours, or one that a fork server forked."""

import os
import select
import subprocess
from typing import Protocol


class RunnerProcess(Protocol):
    """Process with a pid that stays its own while `poll` answers True."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> bool:
        """Check whether it runs. One that has ended is reaped."""

    def wait(self) -> None:
        """Wait for its end."""

    def pidfd(self) -> int | None:
        """Return a new descriptor that is readable once it has ended; None where there is none to have."""

    def let_go(self) -> None:
        """Stop following it; it goes on."""


class ChildRunner:
    """Runner as our own child."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self._child = child
        self.pid = child.pid

    def poll(self) -> bool:
        return self._child.poll() is None

    def wait(self) -> None:
        self._child.wait()

    def pidfd(self) -> int | None:
        try:
            return os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None
        except ProcessLookupError:
            return None  # ended and reaped already; the next look finds that

    def let_go(self) -> None:
        # Popen's destructor would complain about a process that nobody waited for.
        self._child.returncode = 0


class ForkedRunner:
    """Runner as the child of a fork server, which lets the kernel reap it. `pidfd`: None where it has ended."""

    def __init__(self, pid: int, pidfd: int | None) -> None:
        self.pid = pid
        self._pidfd = pidfd

    def poll(self) -> bool:
        if self._pidfd is not None and is_readable(self._pidfd, 0):
            self.let_go()
        return self._pidfd is not None

    def wait(self) -> None:
        if self._pidfd is not None:
            is_readable(self._pidfd, None)

    def pidfd(self) -> int | None:
        return os.dup(self._pidfd) if self.poll() and self._pidfd is not None else None

    def let_go(self) -> None:
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None

    def __del__(self) -> None:
        self.let_go()


def is_readable(descriptor: int, milliseconds: int | None) -> bool:
    """Check whether there is something to read, or the other end is closed. None waits for it."""
    poll = select.poll()  # not select: a master may have more descriptors than that takes
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(milliseconds))
