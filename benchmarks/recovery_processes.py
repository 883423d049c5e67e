"""Processes of the peers: wait for what they do, end them with all that they started."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil

Process = subprocess.Popen[bytes]


def wait(
    condition: Callable[[], bool], what: str, seconds: float, *, by: Process | None = None, log: Path | None = None
) -> None:
    """Until it is so. In vain when `seconds` have passed or the process that should do it has ended."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline or (by is not None and by.poll() is not None):
            said = log.read_text(errors="replace")[-2000:] if log is not None else ""
            raise SystemExit(f"waited at most {seconds:.0f} s in vain for {what}\n{said}")
        time.sleep(0.02)


def end(process: Process) -> None:
    """kill -9, with everything below it."""
    family = _family(process)
    for one in family:
        one.kill()
    process.wait(30)
    psutil.wait_procs(family, 30)


def lives(pid: int) -> bool:
    """Check whether it still does anything: one that has ended and waits for its parent does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _family(process: Process) -> list[psutil.Process]:
    if process.poll() is not None:
        return []
    try:
        parent = psutil.Process(process.pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
