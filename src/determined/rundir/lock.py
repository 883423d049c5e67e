"""The lock that says a runner is alive: a flock on an open descriptor, gone with the last process that holds it."""

import fcntl
import os
import time
from pathlib import Path

# The directory belongs to a task's user: a link is not followed, a pipe holds nobody.
_CAREFUL = os.O_NOFOLLOW | os.O_NONBLOCK
_OBSERVERS_SECONDS = 0.2


class Lock:
    """Held until `close`, or until every process that inherited the descriptor has ended."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def close(self) -> None:
        os.close(self._descriptor)


def hold(path: Path) -> Lock | None:
    """Take the lock; None when another process has it.

    Tried for a moment: an observer (`is_held`) has it for an instant too, and must not keep a runner from starting.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _CAREFUL, 0o600)
    deadline = time.monotonic() + _OBSERVERS_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return Lock(descriptor)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
        time.sleep(0.005)


def is_held(path: Path) -> bool:
    """Whether a runner lives on this directory. A missing file is a runner that never began.

    Raises OSError when something else lies in its place.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | _CAREFUL)
    except FileNotFoundError:
        return False
    try:
        # Shared and released at once: two observers at the same moment do not take each other for a runner.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)
