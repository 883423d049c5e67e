"""The exit of a task goes with the last of its reports, and behind all of them."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from determined.errors import InvalidArgument, Unavailable
from determined.exec.runner.journal_upload import JournalUploader
from determined.exec.runner.log_sink import LogSink
from determined.rundir.control import Control
from determined.rundir.journal import JournalWriter
from determined.rundir.layout import RunDir
from determined.rundir.segment import segment_path
from determined.wire.codec import from_msgpack, to_json
from determined.wire.report import Exit, ExitCause, LogLine, Record, ReportAnswer, ReportBatch, Status


class Master:
    """Takes everything and keeps it by batch, in the order in which it is applied."""

    def __init__(self) -> None:
        self.positions: dict[str, int] = {}
        self.batches: list[list[Record]] = []
        self.away = 0  # how often it does not answer, from its second batch on

    def report(self, raw: bytes) -> bytes:
        batch = from_msgpack(raw, ReportBatch)
        if self.batches and self.away:
            self.away -= 1
            raise Unavailable("nobody there")
        if any(Status("refused") in segment.records for segment in batch.segments):
            raise InvalidArgument("one of these is refused")
        for segment in batch.segments:
            assert segment.first == self.positions.get(segment.source, 0) + 1, "no gap, nothing twice"
            self.positions[segment.source] = segment.first + len(segment.records) - 1
        if batch.segments:
            self.batches.append([record for segment in batch.segments for record in segment.records])
        return to_json(ReportAnswer(dict(self.positions)))


class Task:
    """A runner's journal, that of a process of the task, and their uploader."""

    def __init__(self, path: Path) -> None:
        self.dir = RunDir(path)
        self.dir.create()
        self.master = Master()
        self.sink = LogSink(self.dir, lambda: None)
        self.process = JournalWriter(self.dir.journals, "user-1")
        self.uploader = JournalUploader(self.master, self.dir, Control.open(self.dir.control), lambda _: None)

    def report(self, *texts: str) -> None:
        self.process.extend(msgspec.msgpack.encode(Status(text)) for text in texts)

    def exit(self) -> None:
        self.sink.exit(ExitCause.EXITED, 0, "done")

    def upload(self) -> list[Record]:
        self.uploader.start()
        assert self.uploader.drain()
        self.uploader._leave("the test is over")
        return [record for batch in self.master.batches for record in batch]


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return Task(tmp_path / "run")


def test_the_exit_travels_in_one_request_with_the_last_reports_and_is_the_last_of_them(task: Task) -> None:
    task.sink.say("INFO", "one")
    task.report("half", "whole")
    task.exit()
    records = task.upload()
    assert len(task.master.batches) == 1
    assert [type(record) for record in records] == [LogLine, Status, Status, Exit]


def test_the_exit_waits_until_every_report_of_the_task_was_sent(task: Task) -> None:
    task.report(*(str(n) for n in range(2500)))
    task.exit()
    records = task.upload()
    assert [record.text for record in records if isinstance(record, Status)] == [str(n) for n in range(2500)]
    assert isinstance(records[-1], Exit)
    assert len(task.master.batches) >= 3


def test_an_exit_without_any_report_is_sent_alone(task: Task) -> None:
    task.exit()
    assert [type(record) for record in task.upload()] == [Exit]


def test_nothing_is_said_after_the_exit(task: Task) -> None:
    task.exit()
    task.sink.say("WARNING", "too late")
    assert [type(record) for record in task.upload()] == [Exit]


def test_an_exit_behind_a_journal_that_cannot_be_read_is_sent_nevertheless(task: Task) -> None:
    (task.dir.journals / "user-2.head").write_bytes(b"spoilt")
    task.sink.say("INFO", "one")
    task.exit()
    assert [type(record) for record in task.upload()][-1] is Exit


def damage(task: Task) -> None:
    path = segment_path(task.dir.journals, "user-1", 1)
    whole = path.read_bytes()
    at = whole.index(b"broken")
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes([whole[at] ^ 1]))


def remove(task: Task) -> None:
    segment_path(task.dir.journals, "user-1", 1).unlink()


@pytest.mark.parametrize(("spoil", "kept"), [(damage, ["whole"]), (remove, [])])
@pytest.mark.parametrize("away", [0, 2])
def test_an_exit_behind_records_that_cannot_be_read_is_sent_and_the_loss_is_said_once(
    task: Task, spoil: Callable[[Task], None], kept: list[str], away: int
) -> None:
    task.report("whole", "broken", "behind")
    spoil(task)
    task.sink.say("INFO", "one")
    task.exit()
    task.master.away = away
    records = task.upload()
    assert [record.text for record in records if isinstance(record, Status)] == kept
    said = [record.text for record in records if isinstance(record, LogLine)]
    number = len(kept) + 1
    assert said == ["one", f"reports in journal user-1 cannot be read from number {number} on and are left out"]
    assert [type(record) for record in records].count(Exit) == 1
    assert isinstance(records[-1], Exit)


def test_refused_report_keeps_neither_the_rest_nor_the_exit_back(task: Task) -> None:
    """The batch is halved until the refused record stands alone: the exit must not fill the room for one."""
    task.report("1", "refused", "3")
    task.exit()
    records = task.upload()
    assert [record.text for record in records if isinstance(record, Status)] == ["1", "3"]
    [said] = [record.text for record in records if isinstance(record, LogLine)]
    assert "one of these is refused" in said
    assert isinstance(records[-1], Exit)


def test_exit_is_said_when_there_is_room_for_one_record_and_nothing_else_to_say(task: Task) -> None:
    task.report("refused")
    task.exit()
    assert isinstance(task.upload()[-1], Exit)
