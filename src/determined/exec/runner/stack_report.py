"""Stacks of all ranks of a task on this node, written to its log: by the hang detector, or when people ask."""

import os
import threading
from collections.abc import Collection

from determined.exec.runner import process_tree, stacks
from determined.exec.runner.log_sink import LogSink
from determined.rundir.heartbeat import Reading, readings
from determined.rundir.layout import RunDir
from determined.wire.stacks import begin_line, end_line

_DESCRIBED = 20  # processes that tell no stacks


def living(run_dir: RunDir) -> list[Reading]:
    """Return the processes of the task that can tell their stacks."""
    present = process_tree.descendants(os.getpid())
    return [reading for reading in readings(run_dir.heartbeats) if reading.pid in present]


def write(sink: LogSink, processes: list[Reading], *, others: Collection[int] | None) -> None:
    """Write the stacks of these processes; `others`: also name the rest, but for these pids."""
    for reading in processes:
        found = stacks.ask(reading)
        head = f"rank {reading.rank}, {stacks.described(reading.pid)}"
        sink.quote([head, *(found or ["it does not tell its stacks"])], reading.rank)
    if others is None:
        return
    silent = process_tree.descendants(os.getpid()) - set(others) - {reading.pid for reading in processes}
    for pid in sorted(silent)[:_DESCRIBED]:
        sink.say("INFO", f"no stacks of {stacks.described(pid)}")


class StackRequests:
    """Requests of people for stacks, answered one after the other in a thread."""

    def __init__(self, run_dir: RunDir, sink: LogSink, *, node: str, spared: Collection[int]) -> None:
        self._run_dir = run_dir
        self._sink = sink
        self._node = node
        self._spared = spared
        self._lock = threading.Lock()
        self._answered = 0

    def answer(self, requested: int) -> None:
        """Write the stacks if they were asked for since the last time."""
        if requested > self._answered:
            threading.Thread(target=self._write, args=(requested,), name="stacks", daemon=True).start()

    def _write(self, requested: int) -> None:
        with self._lock:
            if requested <= self._answered:
                return
            self._answered = requested
            self._sink.say("INFO", begin_line(requested, self._node))
            write(self._sink, living(self._run_dir), others=self._spared)
            self._sink.say("INFO", end_line(requested, self._node))
