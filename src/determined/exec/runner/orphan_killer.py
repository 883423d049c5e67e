"""Process forked by the runner; kills the processes of the task when the runner dies.

PDEATHSIG reaches only the direct child; this process ends the whole process group and everything that still carries the
run directory in its environment. It shares the runner's lock, so the directory counts as alive until that is done.
"""

import contextlib
import os
import signal
import time

from determined.constants import ENV_RUN_DIR
from determined.exec.runner import process_tree

_GROUP, _RELEASE = b"group ", b"release"
_CHECKS, _CHECK_SECONDS = 200, 0.02


class OrphanKiller:
    """Runner's end of the pipe to the orphan killer. Closing it without `release` means: the runner died."""

    def __init__(self, descriptor: int, pid: int) -> None:
        self._descriptor = descriptor
        self.pid = pid

    def guard(self, group: int) -> None:
        os.write(self._descriptor, _GROUP + str(group).encode() + b"\n")

    def release(self) -> None:
        os.write(self._descriptor, _RELEASE + b"\n")
        os.close(self._descriptor)


def start_orphan_killer(run_dir: str) -> OrphanKiller:
    """Fork the orphan killer. Call it before the first thread starts."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writing)
        _watch(reading, run_dir)
    os.close(reading)
    return OrphanKiller(writing, pid)


def end_task(run_dir: str, group: int | None) -> None:
    """Kill what is left of a task: its process group, and whoever was started inside its run directory.

    Returns when they are gone, or after a few seconds: one that the kernel cannot end must not keep us for ever.
    """
    if group is not None:
        process_tree.signal_group(group, signal.SIGKILL)
    unseen = 0
    for _ in range(_CHECKS):
        left = process_tree.marked(ENV_RUN_DIR, run_dir)
        process_tree.kill_all(left)
        # Twice nobody: a process that is just starting another program shows no environment for an instant.
        unseen = 0 if left else unseen + 1
        if unseen == 2:
            return
        time.sleep(_CHECK_SECONDS)


def _watch(reading: int, run_dir: str) -> None:
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _redirect_streams_to_devnull()
        words = _until_closed(reading).split(b"\n")
        if _RELEASE not in words:
            groups = [int(word[len(_GROUP) :]) for word in words if word.startswith(_GROUP)]
            end_task(run_dir, groups[-1] if groups else None)
    finally:
        # Never return into the runner's code: two processes would run the task.
        os._exit(0)


def _redirect_streams_to_devnull() -> None:
    """Replace the standard streams by /dev/null: a reader of the runner's output must not wait for us."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        with contextlib.suppress(OSError):
            os.dup2(null, stream)


def _until_closed(reading: int) -> bytes:
    received = b""
    while chunk := os.read(reading, 4096):
        received += chunk
    return received
