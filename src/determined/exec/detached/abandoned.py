"""Run directories whose delivery process is gone (a reboot, a kill): another one takes them over."""

import logging
import subprocess
import sys
import time
from pathlib import Path

from determined.exec.detached.owner import is_running
from determined.rundir import detached
from determined.rundir.layout import RunDir
from determined.rundir.lock import is_held

logger = logging.getLogger(__name__)

_YOUNG_SECONDS = 60.0  # a directory that is just being made has no lock file yet


def take_over(directory: Path) -> None:
    """Start a delivery process for each directory that has none."""
    for run_dir in abandoned(directory, time.time()):
        try:
            _start(run_dir)
        except OSError as e:
            logger.info("not taking over %s: %s", run_dir.path, e)  # another run has taken it over and removed it


def _start(run_dir: RunDir) -> None:
    logger.info("taking over %s", run_dir.path)
    with run_dir.runner_log.open("ab") as log:
        subprocess.call(  # it ends at once, and leaves a child
            [sys.executable, "-P", "-m", "determined.exec.detached", str(run_dir.path)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def abandoned(directory: Path, now: float) -> list[RunDir]:
    """List the directories of which nobody holds the lock, and whose runs have ended."""
    left = []
    for path in sorted(directory.iterdir()):
        run_dir = RunDir(path)
        try:
            if _is_made(run_dir, now) and _is_left(run_dir):
                left.append(run_dir)
        except (OSError, ValueError):
            continue  # just being made or removed
    return left


def _is_made(run_dir: RunDir, now: float) -> bool:
    """Check whether a delivery process has been started: it gets the lock at its start. Or none ever will be."""
    return run_dir.lock.exists() or now - run_dir.detached.stat().st_mtime > _YOUNG_SECONDS


def _is_left(run_dir: RunDir) -> bool:
    """Check whether nobody delivers, and the run is over: whoever took over a living one would call it dead."""
    if is_held(run_dir.lock):
        return False
    file = detached.read(run_dir)
    return run_dir.end.exists() or not is_running(file)
