"""Time from a kill -9 of one rank of four until the other three are gone, ours beside torchrun's."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import peers
from cluster import Cluster, running
from recovery_processes import end, lives, wait

HERE = Path(__file__).parent
KINDS = ("collective", "asleep", "deaf")  # what the others are in the middle of: see recovery_rank.py
LIMIT = 45.0  # seconds after which nobody waits for the rest
_RANKS, _NODES = 4, 2
_READY = 120.0

Times = dict[str, list[float]]  # by kind; LIMIT when some were still there


def ours(times: int) -> Times:
    """On two nodes of two slots each."""
    with (
        tempfile.TemporaryDirectory(prefix="det-ranks-") as place,
        running(Path(place), slots=_RANKS // _NODES, nodes=_NODES) as cluster,
    ):
        return {kind: [_one_dies(partial(_trial, cluster, kind)) for _ in range(times)] for kind in KINDS}


def torchrun(nodes: int, times: dict[str, int]) -> Times:
    """`times`: of each kind, as one that is waited for to the limit need not be seen often."""
    return {kind: [_one_dies(partial(_torchrun, nodes, kind)) for _ in range(number)] for kind, number in times.items()}


def _one_dies(launch: Callable[[Path], AbstractContextManager[None]]) -> float:
    """Seconds until the ranks that were not killed are gone."""
    with tempfile.TemporaryDirectory(prefix="det-ranks-") as place:
        marks = [Path(place) / str(rank) for rank in range(_RANKS)]
        with launch(Path(place)):
            wait(lambda: all(mark.exists() for mark in marks), "four ranks", _READY)
            *others, doomed = (int(mark.read_text()) for mark in marks)
            time.sleep(0.5)  # the last to be ready is in the middle of it as well
            begin = time.perf_counter()
            os.kill(doomed, signal.SIGKILL)
            while any(lives(pid) for pid in others) and time.perf_counter() - begin < LIMIT:
                time.sleep(0.005)
            return min(time.perf_counter() - begin, LIMIT)


@contextmanager
def _trial(cluster: Cluster, kind: str, folder: Path) -> Iterator[None]:
    launcher = ["python3", "-m", "determined.launch.torch_distributed", "python3"]
    experiment = cluster.submit([*launcher, str(HERE / "recovery_rank.py"), str(folder), kind], slots=_RANKS)
    yield
    cluster.wait(lambda: cluster.state_of(experiment) == "ERROR", "the experiment's end")


@contextmanager
def _torchrun(nodes: int, kind: str, folder: Path) -> Iterator[None]:
    address = f"127.0.0.1:{_free_port()}"
    rendezvous = ["--rdzv-backend", "c10d", "--rdzv-endpoint", address, "--rdzv-id", "recovery"]
    options = ["--nnodes", str(nodes), "--nproc-per-node", str(_RANKS // nodes), "--local-addr", "127.0.0.1"]
    command = [sys.executable, "-m", "torch.distributed.run", *rendezvous, *options]
    command += [str(HERE / "recovery_rank.py"), str(folder), kind]
    with (folder / "log").open("ab") as log:
        agents = [subprocess.Popen(command, env=peers.environment(), stdout=log, stderr=log) for _ in range(nodes)]
    try:
        yield
    finally:
        for agent in agents:
            end(agent)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
