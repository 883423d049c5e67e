"""Hang detector: thread that logs all stacks when a training shows no sign of life. It ends nothing."""

import logging
import threading
import time
from collections.abc import Iterable

from determined.exec.runner import stack_report
from determined.exec.runner.hang_rule import Alarm, HangRule
from determined.exec.runner.log_sink import LogSink
from determined.rundir.heartbeat import Reading
from determined.rundir.journal_head import committed_of
from determined.rundir.layout import RunDir

logger = logging.getLogger(__name__)

_CHECKS_PER_LIMIT = 20
_CHECK_SECONDS_RANGE = (0.05, 30.0)
_CHECK_SHARE = 0.01  # of the time at most: each check reads all of /proc, and a host may have thousands of processes
_USER = "user-"


class HangDetector:
    """Hang detector of one task on this node. Other nodes watch their own ranks."""

    def __init__(self, run_dir: RunDir, sink: LogSink, limit: float, *, node: str, spared: Iterable[int] = ()) -> None:
        self._run_dir = run_dir
        self._sink = sink
        self._limit = limit
        self._node = node
        self._spared = set(spared)

    def start(self, ended: threading.Event) -> None:
        threading.Thread(target=self._run, args=(ended,), name="hang-detector", daemon=True).start()

    def _run(self, ended: threading.Event) -> None:
        rule = HangRule(self._limit, time.monotonic())
        pause = usual = min(max(self._limit / _CHECKS_PER_LIMIT, _CHECK_SECONDS_RANGE[0]), _CHECK_SECONDS_RANGE[1])
        while not ended.wait(pause):
            began = time.thread_time()
            try:
                self._check(rule)
            except Exception:
                # Without this thread a training that hangs does so unseen; one failed check costs nothing.
                logger.exception("looking for signs of life failed; trying again")
            pause = max(usual, (time.thread_time() - began) / _CHECK_SHARE)

    def _check(self, rule: HangRule) -> None:
        living = stack_report.living(self._run_dir)
        ranks, others = self._signs(living)
        alarm = rule.observe(time.monotonic(), ranks, others)
        if alarm is not None:
            self._sink.say("WARNING", _sentence(alarm, self._limit, self._node))
            stack_report.write(self._sink, living, others=self._spared if alarm.whole else None)

    def _signs(self, living: list[Reading]) -> tuple[dict[int, int], int]:
        """Return (by rank, of no rank) the beats, records and lines so far."""
        records = _records(self._run_dir)
        lines = dict(self._sink.line_counts)
        ranks: dict[int, int] = {}
        for reading in living:
            signs = reading.beats + records.pop(reading.pid, 0) + lines.pop(reading.rank, 0)
            ranks[reading.rank] = ranks.get(reading.rank, 0) + signs
        return ranks, sum(records.values()) + sum(lines.values())


def _sentence(alarm: Alarm, limit: float, node: str) -> str:
    setting = f"watchdog.silent_seconds is {limit:g}"
    names = ", ".join(f"rank {rank} for {seconds:.1f} s" for rank, seconds in alarm.quiet)
    if alarm.whole:
        who = f"silent: {names}" if names else "no process there has opened a core context"
        return (
            f"no sign of life of this task on {node} for {alarm.seconds:.1f} s ({setting}); {who}; stacks follow; "
            "whoever is silent longest is the first suspect; the task goes on"
        )
    return f"silent on {node} while others go on: {names} ({setting}); all stacks follow, the task goes on"


def _records(run_dir: RunDir) -> dict[int, int]:
    """Return the number of records reported so far by each process."""
    counts: dict[int, int] = {}
    for head in run_dir.journals.glob(f"{_USER}*.head"):
        pid = head.name.split("-")[1]
        if pid.isdigit():
            counts[int(pid)] = counts.get(int(pid), 0) + committed_of(head.read_bytes())
    return counts
