"""A clock that a test can move, for every Python process that has this directory on PYTHONPATH and is told the file.

The file holds one double: by how many seconds `time.time` and `time.monotonic` run ahead. A sleep ends when the moved
clock says so. Nothing of the programs themselves is replaced.
"""

import mmap
import os
import struct
import time

_STEP = 0.002


def _move(path: str) -> None:
    with open(path, "rb") as file:  # noqa: PTH123 (pathlib would slow every interpreter's start)
        ahead = mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)
    real_time, real_monotonic, real_sleep = time.time, time.monotonic, time.sleep

    def offset() -> float:
        return float(struct.unpack("d", ahead[:8])[0])

    def monotonic() -> float:
        return real_monotonic() + offset()

    def sleep(seconds: float) -> None:
        deadline = monotonic() + seconds
        while (left := deadline - monotonic()) > 0:
            real_sleep(min(left, _STEP))

    time.time = lambda: real_time() + offset()
    time.monotonic = monotonic
    time.sleep = sleep


if os.environ.get("MOVED_CLOCK"):
    _move(os.environ["MOVED_CLOCK"])
