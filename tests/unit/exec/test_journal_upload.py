"""The uploader against a master that lost records, or that breaks on one of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from determined.errors import Conflict, Unavailable
from determined.exec.runner.journal_upload import JournalUploader, seconds_to_next_look
from determined.rundir.control import Control
from determined.rundir.journal import JournalWriter
from determined.rundir.layout import RunDir
from determined.wire.codec import from_msgpack, to_json
from determined.wire.report import LogLine, Missing, Record, ReportAnswer, ReportBatch

JOURNAL = "user-1"


class Master:
    """Takes batches as the real one does: no gaps, each record once."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.check: Callable[[ReportBatch], None] = lambda batch: None

    def report(self, raw: bytes) -> bytes:
        batch = from_msgpack(raw, ReportBatch)
        self.check(batch)
        for segment in batch.segments:
            if segment.first > len(self.records) + 1:
                raise Conflict("gap", positions={JOURNAL: len(self.records)})
            self.records += segment.records[len(self.records) + 1 - segment.first :]
        return to_json(ReportAnswer({JOURNAL: len(self.records)}))

    def texts(self) -> list[str]:
        return [r.text for r in self.records if isinstance(r, LogLine)]


class Running:
    def __init__(self, path: Path) -> None:
        self.dir = RunDir(path)
        self.dir.create()
        self.master = Master()
        self.over: list[str] = []
        self.journal = JournalWriter(self.dir.journals, JOURNAL, segment_bytes=4096)
        self.uploader = JournalUploader(self.master, self.dir, Control.open(self.dir.control), self.over.append)  # type: ignore[arg-type]

    def say(self, *texts: str) -> None:
        self.journal.extend(msgspec.msgpack.encode(LogLine(text, 1.0)) for text in texts)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path / "run")
    made.uploader.start()
    yield made
    made.uploader._leave("the test is over")


def test_records_that_a_restored_master_forgot_and_nobody_has_become_one_line(running: Running) -> None:
    running.say(*(f"line {n} {'x' * 50}" for n in range(500)))
    assert running.uploader.drain()
    del running.master.records[10:]  # an older database was restored; the first segments here are long gone
    running.say("after")
    assert running.uploader.drain()
    assert not running.over, "training must go on"
    first = next(n for n, r in enumerate(running.master.records) if isinstance(r, Missing))
    assert first == 11
    assert "records 11 to " in running.master.texts()[10]
    assert len(running.master.records) == 501
    assert running.master.texts()[-2:] == [f"line 499 {'x' * 50}", "after"]
    assert sum("are lost" in text for text in running.master.texts()) == 1


def test_records_that_are_still_here_are_sent_to_a_restored_master_again(running: Running) -> None:
    running.say("a", "b", "c")
    assert running.uploader.drain()
    del running.master.records[1:]
    running.say("d")
    assert running.uploader.drain()
    assert running.master.texts() == ["a", "b", "c", "d"]


def test_a_record_on_which_the_master_breaks_is_replaced_and_the_rest_arrives(running: Running) -> None:
    def breaks(batch: ReportBatch) -> None:
        if any(isinstance(r, LogLine) and r.text == "poison" for s in batch.segments for r in s.records):
            raise Unavailable("answers 500", defect=True)

    running.master.check = breaks
    running.say("a", "poison", "b")
    assert running.uploader.drain()
    assert running.master.texts()[0] == "a"
    assert "dropped" in running.master.texts()[1]
    assert running.master.texts()[2] == "b"


def test_a_master_that_is_only_away_costs_no_record(running: Running) -> None:
    failures = [Unavailable("answers 503", defect=False)] * 4

    def away(batch: ReportBatch) -> None:
        if batch.segments and failures:
            raise failures.pop()

    running.master.check = away
    running.say("a", "b")
    assert running.uploader.drain()
    assert running.master.texts() == ["a", "b"]


def test_a_runner_whose_task_reports_nothing_looks_for_reports_twice_a_second_in_the_end() -> None:
    looks = [seconds_to_next_look(age, is_alone=True) for age in (0.0, 2.0, 10.0, 60.0, 86400.0)]
    assert looks == pytest.approx([0.025, 0.025, 0.1, 0.5, 0.5])


def test_reports_of_a_task_that_has_begun_to_report_wait_no_longer_however_old_it_is() -> None:
    assert {seconds_to_next_look(age, is_alone=False) for age in (0.0, 86400.0)} == {0.025}
