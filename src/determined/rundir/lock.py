"""Lock that shows that a runner is alive: a flock on an open descriptor, gone with the last process that holds it."""

import fcntl
import os
import time
from pathlib import Path

# The directory belongs to a task's user: a link is not followed, a pipe holds nobody.
_CAREFUL = os.O_NOFOLLOW | os.O_NONBLOCK
_RUNNER_SECONDS = 0.2  # how long one that is just leaving is waited for
_OBSERVERS_SECONDS = 30.0  # an instant, unless the observer was stopped in the midst of it


class Lock:
    """Lock that is held until `close`, or until every process that inherited the descriptor has ended."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        """Return the descriptor, for a process that is to inherit the lock."""
        return self._descriptor

    def close(self) -> None:
        os.close(self._descriptor)


def hold(path: Path) -> Lock | None:
    """Take the lock; None when another process has it.

    Observers (`is_held`) have it for an instant too, and must not keep a runner from starting.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _CAREFUL, 0o600)
    started = time.monotonic()
    while True:
        if _locked(descriptor, fcntl.LOCK_EX):
            return Lock(descriptor)
        waited = time.monotonic() - started
        if waited >= _RUNNER_SECONDS and (waited >= _OBSERVERS_SECONDS or not _is_only_observed(descriptor)):
            os.close(descriptor)
            return None
        time.sleep(0.005)


def _is_only_observed(descriptor: int) -> bool:
    """Check whether all who hold the lock share it, as observers do and no runner does."""
    if not _locked(descriptor, fcntl.LOCK_SH):
        return False
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return True


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_held(path: Path) -> bool:
    """Check whether a runner lives on this directory. A missing file is a runner that never began.

    Raises OSError when something else lies in its place.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | _CAREFUL)
    except FileNotFoundError:
        return False
    try:
        # Shared and released at once: two observers at the same moment do not take each other for a runner.
        return not _locked(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)
