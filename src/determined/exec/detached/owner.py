"""Process that a run directory belongs to: whether it still runs."""

import os

from determined.rundir.detached import DetachedFile
from determined.rundir.process_identity import is_alive


def is_running(file: DetachedFile) -> bool:
    """Check whether the process that made the directory runs."""
    if file.owner_started is not None:
        return is_alive(file.owner, file.owner_started)
    return file.owner > 0 and _exists(file.owner)  # made where there is no /proc


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
