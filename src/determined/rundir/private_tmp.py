"""Check that a path of this process is in the task's private /tmp, which is deleted with the task."""

import json
import os
from pathlib import Path

from determined.rundir.layout import RunDir

_MOUNTS = Path("/proc/self/mountinfo")


def tmp_of_task(run_dir: RunDir) -> Path | None:
    """Return the node's directory that the runner has made for this task's temporary files; None if there is none."""
    try:
        return Path(json.loads(run_dir.tmp_note.read_text()))
    except (OSError, ValueError):
        return None


def is_in_private_tmp(run_dir: RunDir, path: str) -> bool:
    """Check whether `path` is one of this task's temporary files, by whichever name it has here."""
    own = tmp_of_task(run_dir)
    if own is None:
        return False
    real = Path(os.path.realpath(path))
    return real.is_relative_to(own) or f"/{own.name}/" in _mounted_from(real)


def _mounted_from(path: Path) -> str:
    """Return the part of the file system that is mounted where `path` lies, and a `/`.

    The innermost mount counts, then the last.
    """
    try:
        lines = [line.split() for line in _MOUNTS.read_text().splitlines()]
    except OSError:
        return ""
    sources = [
        (len(fields[4]), number, fields[3]) for number, fields in enumerate(lines) if path.is_relative_to(fields[4])
    ]
    return max(sources)[2] + "/" if sources else ""
