"""Steps of tasks.py: tasks on a cluster, waiting with an end, processor time."""

import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

from cluster import Cluster

PATIENCE = 60.0
_ENDED = "STATE_TERMINATED"


class _Late(Exception):
    """A part of the benchmark took longer than its limit."""


_waited_for: list[str] = []


@contextlib.contextmanager
def limited(part: str, seconds: float) -> Iterator[None]:
    """End the benchmark, with the name of what it waited for, when a part of it takes longer than this."""

    def end(_number: int, _frame: object) -> None:
        raise _Late

    began = time.monotonic()
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _Late:
        inside = f", and waited for {_waited_for[-1]}" if _waited_for else ""
        raise SystemExit(f"{part}: not done after {seconds:.0f} s{inside}") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    sys.stderr.write(f"{part}: {time.monotonic() - began:.0f} s\n")


def wait_for(condition: Callable[[], bool], what: str, seconds: float = PATIENCE, pause: float = 0.05) -> None:
    deadline = time.monotonic() + seconds
    _waited_for.append(what)
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(pause)
    _waited_for.pop()


def launch(cluster: Cluster, config: Mapping[str, object], noun: str = "command") -> str:
    return str(cluster.call("POST", f"/api/v1/{noun}s", {"config": config})[noun]["id"])


def wait_until_running(
    cluster: Cluster, tasks: list[str], noun: str, *, ready: bool, seconds: float = PATIENCE
) -> None:
    """Wait until all run, and answer if `ready`. One list tells of all: a question for each would load the master."""
    what = f"{len(tasks)} {noun}s to {'be ready' if ready else 'run'}"

    def all_are_there() -> bool:
        entries = _entries(cluster, tasks, noun)
        for entry in entries:
            if entry["state"] == _ENDED:
                raise SystemExit(f"waited for {what}, but {entry['id']} has ended: {entry['exitStatus']}")
        return all(e["state"] == "STATE_RUNNING" and (not ready or bool(e["isReady"])) for e in entries)

    wait_for(all_are_there, what, seconds, pause=0.5)


def kill(cluster: Cluster, tasks: list[str], noun: str = "command", seconds: float = 120.0) -> None:
    """Kill them and wait until they have ended: what comes next would be measured beside their end."""
    for task in tasks:
        cluster.call("POST", f"/api/v1/{noun}s/{task}/kill")
    what = f"the end of {len(tasks)} {noun}s"
    wait_for(lambda: all(e["state"] == _ENDED for e in _entries(cluster, tasks, noun)), what, seconds, pause=0.5)


def processor_seconds(process: psutil.Process) -> float:
    """Return the processor time of a process so far: in ns where the kernel says so, else in ticks of 10 ms."""
    try:
        files = list(Path(f"/proc/{process.pid}/task").glob("*/schedstat"))
        taken = sum(int(file.read_text().split()[0]) for file in files) / 1e9
    except OSError:
        taken = 0.0
    times = process.cpu_times()
    return taken or float(times.user + times.system)


def share(process: psutil.Process, seconds: float) -> float:
    """Return how much of one processor a process uses, in per cent."""
    before, began = processor_seconds(process), time.perf_counter()
    time.sleep(seconds)
    return (processor_seconds(process) - before) / (time.perf_counter() - began) * 100


def master_of(cluster: Cluster) -> psutil.Process:
    assert cluster.process is not None
    return psutil.Process(cluster.process.pid)


def _entries(cluster: Cluster, tasks: list[str], noun: str) -> list[dict[str, Any]]:
    entries = {entry["id"]: entry for entry in cluster.call("GET", f"/api/v1/{noun}s?limit=-1")[f"{noun}s"]}
    return [entries[task] for task in tasks]
