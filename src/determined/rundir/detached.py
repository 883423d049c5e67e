"""Files of a run outside of the cluster (detached mode): what its delivery process needs, and how the run ended.

The process that trains, or `det run` around it, makes the directory and starts `determined.exec.detached` on it.
"""

import os
from pathlib import Path

from determined.rundir.layout import RunDir
from determined.wire.codec import Wire, from_json, to_json


class DetachedFile(Wire):
    """`detached.json`: the trial to report for, and how its master is reached.

    `is_chief`: this process sends the signs of life and sets the state of the trial. `event_directories`: where
    TensorBoard files are looked for, whose scalars become metrics. `owner`, `owner_started`: the process that made the
    directory (rundir/process_identity.py).
    """

    master_url: str
    token: str
    trial_id: int
    run_id: int
    username: str | None = None
    cert_file: str | None = None
    cert_name: str | None = None
    cert_pinned: str | None = None
    is_chief: bool = True
    event_directories: list[str] = []
    started: float = 0.0
    owner: int = 0
    owner_started: str | None = None


class RunEnd(Wire):
    """End of a run: the state for its trial, and a line for its log."""

    state: str  # COMPLETED, ERROR, CANCELED
    message: str


def write(run_dir: RunDir, content: DetachedFile) -> None:
    """Write the file for this user alone: it has the user's token."""
    _write_private(run_dir.detached, to_json(content))


def read(run_dir: RunDir) -> DetachedFile:
    """Read the file. Raises OSError or ValueError where there is none, or another thing."""
    return from_json(run_dir.detached.read_bytes(), DetachedFile)


def write_end(run_dir: RunDir, end: RunEnd) -> None:
    """Say that the run has ended; the first word counts."""
    if not run_dir.end.exists():
        _write_private(run_dir.end, to_json(end))


def read_end(run_dir: RunDir) -> RunEnd | None:
    """Read how the run ended; None while nobody has said so."""
    try:
        return from_json(run_dir.end.read_bytes(), RunEnd)
    except (OSError, ValueError):
        return None


def _write_private(path: Path, content: bytes) -> None:
    fresh = path.with_suffix(".new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        out.write(content)
    fresh.rename(path)
