"""The hang detector over real processes: whose stacks reach the log, and who is left alone."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from determined.exec.runner import hang_detector, stack_report, stacks
from determined.exec.runner.hang_detector import HangDetector
from determined.exec.runner.hang_rule import HangRule
from determined.exec.runner.log_sink import LogSink
from determined.rundir.heartbeat import Reading, readings
from determined.rundir.journal import JournalReader, JournalWriter
from determined.rundir.layout import RunDir
from determined.wire.report import LogLine, Record

TRAINER = """
import ctypes, sys, threading, time
from pathlib import Path
from determined.core import _stack_dump
from determined.rundir.heartbeat import Heartbeat
pulse = Heartbeat(Path(sys.argv[1]) / "heartbeats", int(sys.argv[2]))
_stack_dump.install_on_demand(pulse.stacks)
within = threading.Event()
def load_data():
    within.set()
    threading.Event().wait()
def train():
    (Path(sys.argv[1]) / f"up{sys.argv[2]}").touch()
    for _ in range(BEATS):
        if (Path(sys.argv[1]) / f"stop{sys.argv[2]}").exists():
            break
        pulse.beat()
        time.sleep(0.1)
    while True:
        ctypes.PyDLL(None).usleep(60_000_000)
threading.Thread(target=load_data, daemon=True).start()
within.wait()
train()
"""


class Noted(HangDetector):
    """Tells how often it has seen a rank go on. On a machine with many processes it looks seldom."""

    rule: HangRule | None = None

    def _check(self, rule: HangRule) -> None:
        super()._check(rule)
        self.rule = rule

    def beats(self, rank: int) -> int:
        activity = self.rule._ranks.get(rank) if self.rule else None
        return activity.beats if activity else 0


class Watched:
    def __init__(self, path: Path) -> None:
        self.run_dir = RunDir(path)
        self.run_dir.create()
        self.sink = LogSink(self.run_dir, lambda: None)
        self.ended = threading.Event()
        self.processes: list[subprocess.Popen[bytes]] = []

    def train(self, rank: int, beats: int = 0) -> int:
        code = TRAINER.replace("BEATS", str(beats))
        return self.start(sys.executable, "-c", code, str(self.run_dir.path), str(rank))

    def start(self, *argv: str) -> int:
        self.processes.append(subprocess.Popen(argv))
        return self.processes[-1].pid

    def look_out(self, limit: float, **options: Any) -> "Noted":
        detector = Noted(self.run_dir, self.sink, limit, node="n0", **options)
        detector.start(self.ended)
        return detector

    def lines(self) -> list[LogLine]:
        reader = JournalReader(self.run_dir.journals, "logs")
        records = [msgspec.msgpack.decode(raw, type=Record) for raw in reader.read()[1]]
        reader.close()
        return [record for record in records if isinstance(record, LogLine)]

    def texts(self, rank: int | None) -> str:
        return "\n".join(line.text for line in self.lines() if line.rank == rank)

    def close(self) -> None:
        self.ended.set()
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setattr(stacks, "_ANSWER_SECONDS", 60.0)
    monkeypatch.setattr(stack_report, "_DESCRIBED", 1000)  # servers of other tests may be children of this process
    made = Watched(tmp_path / "run")
    yield made
    made.close()


def eventually(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError("never became true")


def test_every_thread_of_every_rank_is_shown_even_inside_a_c_call(watched: Watched) -> None:
    pids = [watched.train(rank) for rank in (0, 1)]
    eventually(lambda: all((watched.run_dir.path / f"up{rank}").exists() for rank in (0, 1)))
    watched.look_out(0.5)
    eventually(lambda: "load_data" in watched.texts(1))
    for rank in (0, 1):
        assert f"rank {rank}, process {pids[rank]} (" in watched.texts(rank)
        assert "in train" in watched.texts(rank) and "in load_data" in watched.texts(rank)
    [sentence] = [line for line in watched.lines() if line.rank is None and "silent" in line.text]
    assert "rank 0 for" in sentence.text and "rank 1 for" in sentence.text and "n0" in sentence.text
    assert all(process.poll() is None for process in watched.processes)


def test_a_rank_that_stops_is_named_while_the_other_goes_on(watched: Watched) -> None:
    for rank in (0, 1):
        watched.train(rank, beats=6000)
    eventually(lambda: [bool(reading.beats) for reading in readings(watched.run_dir.heartbeats)] == [True, True])
    detector = watched.look_out(4)
    eventually(lambda: detector.beats(1) >= 3)
    (watched.run_dir.path / "stop1").touch()
    alarm = eventually(lambda: [line.text for line in watched.lines() if "silent" in line.text])[0]
    assert "while others go on: rank 1 for" in alarm
    eventually(lambda: "in train" in watched.texts(0))  # all ranks, to see what the silent one is waited for with


def test_a_process_that_would_die_of_the_question_is_described_instead(watched: Watched) -> None:
    pid = watched.start("sleep", "300")
    spared = watched.start("sleep", "301")
    eventually(lambda: "S (sleeping)" in stacks.described(pid))  # it has begun: from now on it does nothing else
    watched.look_out(0.2, spared={spared})
    eventually(lambda: f"no stacks of process {pid} (sleep 300): S (sleeping)" in watched.texts(None))
    assert f"process {spared} " not in watched.texts(None)
    assert watched.processes[0].poll() is None


def test_one_with_a_pulse_that_does_not_catch_the_signal_is_not_sent_it(watched: Watched, tmp_path: Path) -> None:
    pid = watched.start("sleep", "300")
    assert stacks.ask(Reading(pid, 0, 0, tmp_path / "stacks")) is None
    assert watched.processes[0].poll() is None


def test_lines_of_the_task_are_signs_of_life(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    _is_a_sign(watched, monkeypatch, lambda: watched.sink.output([("working", None, None)], "stdout"))


def test_reports_are_signs_of_life(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = JournalWriter(watched.run_dir.journals, f"user-{os.getpid()}-ab12")
    _is_a_sign(watched, monkeypatch, lambda: journal.append(b"a report"))
    journal.close()


def _is_a_sign(watched: Watched, monkeypatch: pytest.MonkeyPatch, sign: Callable[[], object]) -> None:
    """By a clock of the test's own: a busy machine makes no silence."""
    now = 0.0
    monkeypatch.setattr(hang_detector, "time", SimpleNamespace(monotonic=lambda: now))
    rule, looking = HangRule(10, now), HangDetector(watched.run_dir, watched.sink, 10, node="n0")
    for _ in range(10):
        sign()
        now += 9
        looking._check(rule)
    assert not [line for line in watched.lines() if "no sign of life" in line.text]
    now += 10
    looking._check(rule)
    assert [line for line in watched.lines() if "no sign of life" in line.text]


def test_a_process_that_is_gone_is_described_as_such() -> None:
    assert "gone" in stacks.described(2**22 + os.getpid())
