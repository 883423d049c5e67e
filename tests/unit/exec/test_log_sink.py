"""The journal of the runner: a full disk costs lines, says so, and never the exit."""

import errno
from pathlib import Path
from typing import Any

import msgspec
import pytest

from determined.exec.runner.log_sink import LogSink
from determined.rundir import journal
from determined.rundir.journal import JournalReader
from determined.rundir.layout import RunDir
from determined.wire.report import Exit, ExitCause, LogLine, Record


def make(tmp_path: Path) -> tuple[LogSink, RunDir]:
    run_dir = RunDir(tmp_path / "run")
    run_dir.create()
    return LogSink(run_dir, lambda: None), run_dir


def records(run_dir: RunDir) -> list[Any]:
    reader = JournalReader(run_dir.journals, "logs")
    found: list[Any] = []
    while True:
        first, raw = reader.read()
        if not raw:
            return found
        found += [msgspec.msgpack.decode(r, type=Record) for r in raw]
        reader.acknowledge(first + len(raw) - 1)


def test_full_disk_drops_lines_counts_them_and_keeps_the_exit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink, run_dir = make(tmp_path)
    lines = [("x" * 8000, None, None)] * 100
    real = journal.create_segment

    def full(path: Path, size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(journal, "create_segment", full)
    for _ in range(8):
        sink.output(lines, "stdout")
    kept = sink.journal.committed
    assert kept < 800
    monkeypatch.setattr(journal, "create_segment", real)
    sink.output([("room again", None, None)], "stdout")
    monkeypatch.setattr(journal, "create_segment", full)
    sink.exit(ExitCause.EXITED, 0, "over")
    found = records(run_dir)
    assert found[kept].text == "room again"
    assert f"{800 - kept} log lines before this moment were dropped" in found[kept + 1].text
    assert isinstance(found[-1], Exit)


def test_long_word_of_the_runner_is_cut_into_lines(tmp_path: Path) -> None:
    sink, run_dir = make(tmp_path)
    sink.say("INFO", "y" * 10_000)
    found = records(run_dir)
    assert "".join(line.text for line in found) == "y" * 10_000
    assert all(isinstance(line, LogLine) and line.source == "agent" and line.level == "INFO" for line in found)


def test_exit_of_an_earlier_runner_is_found(tmp_path: Path) -> None:
    sink, run_dir = make(tmp_path)
    sink.say("INFO", "hello")
    assert not LogSink(run_dir, lambda: None).already_exited()
    sink.exit(ExitCause.KILLED, 137, "killed")
    assert LogSink(run_dir, lambda: None).already_exited()


def test_a_second_runner_says_nothing_behind_the_exit_of_the_first(tmp_path: Path) -> None:
    first, run_dir = make(tmp_path)
    first.say("INFO", "one")
    first.exit(ExitCause.EXITED, 0, "over")
    first.journal.close()
    second = LogSink(run_dir, lambda: None)
    second.say("WARNING", "too late")
    second.phase("running")
    assert [type(record) for record in records(run_dir)] == [LogLine, Exit]
