"""A rank that waits to be killed, or to lose another one. `recovery_rank.py FOLDER asleep|deaf|collective`.

Asleep: as a rank that computes. Deaf: it ignores TERM. Collective: in one all_reduce after another.
"""

import os
import signal
import sys
import time
from pathlib import Path

_SECONDS = 120.0  # nobody waits longer


def main(folder: Path, kind: str) -> None:
    if kind == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if kind == "collective":
        _reduce(folder)
    _say(folder)
    time.sleep(_SECONDS)


def _reduce(folder: Path) -> None:
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    dist.all_reduce(torch.ones(1))
    _say(folder)
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        dist.all_reduce(torch.ones(1000))
        time.sleep(0.001)


def _say(folder: Path) -> None:
    """Say that it is ready, and its process."""
    rank = os.environ["RANK"]
    (folder / f"{rank}.new").write_text(str(os.getpid()))
    (folder / f"{rank}.new").rename(folder / rank)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
