"""Files in a directory of a task's user, who may have put links or pipes there to fool root: how to open them."""

import os
import stat
from pathlib import Path

from determined.errors import Unavailable

# A link is refused; a pipe without a partner fails at once instead of holding the thread.
_CAREFUL = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_end(path: Path, limit: int) -> bytes:
    """Return the last `limit` bytes of a plain file; nothing when it is missing or something else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _CAREFUL)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        file.seek(max(0, file.seek(0, os.SEEK_END) - limit))
        return file.read(limit)


def open_log(path: Path, owner: tuple[int, int] | None) -> int:
    """Open a log of our own making to append to it. Raises OSError or `Unavailable` for anything else."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | _CAREFUL, 0o600)
    except FileExistsError:
        return _reopen(path)
    if owner is not None:
        os.fchown(descriptor, *owner)
    return descriptor


def _reopen(path: Path) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | _CAREFUL)
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
        return descriptor
    os.close(descriptor)
    raise Unavailable(f"{path} is not the plain file it was; somebody replaced it")
