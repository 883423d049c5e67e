"""One journal that cannot be read holds up neither the others nor the runner's end."""

import threading
from pathlib import Path

import msgspec
import pytest

from determined.exec.runner.journal_upload import JournalUploader
from determined.rundir.control import Control
from determined.rundir.journal import JournalWriter
from determined.rundir.journal_head import HEAD_BYTES
from determined.rundir.layout import RunDir
from determined.rundir.segment import segment_path
from determined.wire.report import ReportBatch, Status


class Master:
    """Takes everything."""

    def __init__(self) -> None:
        self.positions: dict[str, int] = {}

    def report(self, raw: bytes) -> bytes:
        for segment in msgspec.msgpack.decode(raw, type=ReportBatch).segments:
            self.positions[segment.source] = segment.first + len(segment.records) - 1
        return msgspec.json.encode({"positions": self.positions, "ended": False})


def spoil(run_dir: RunDir, how: str) -> None:
    head = run_dir.journals / "user-0.head"
    if how == "empty head":
        head.write_bytes(b"")
    elif how == "foreign head":
        head.write_bytes(b"x" * HEAD_BYTES)
    elif how == "directory":
        head.mkdir()
    else:
        JournalWriter(run_dir.journals, "user-0").close()
        segment_path(run_dir.journals, "user-0", 1).write_bytes(b"")


@pytest.mark.parametrize("how", ["empty head", "foreign head", "directory", "empty segment"])
def test_unreadable_journal_is_said_once_and_the_others_are_shipped(tmp_path: Path, how: str) -> None:
    run_dir = RunDir(tmp_path / "run")
    run_dir.create()
    spoil(run_dir, how)
    writer = JournalWriter(run_dir.journals, "user-1")
    writer.append(msgspec.msgpack.encode(Status("training")))
    complaints: list[str] = []
    drained: list[bool] = []
    master, control = Master(), Control.open(run_dir.control)
    uploader = JournalUploader(master, run_dir, control, lambda _: None, complaints.append)  # type: ignore[arg-type]

    def drain_twice() -> None:
        drained.extend([uploader.drain(), uploader.drain()])

    waiting = threading.Thread(target=drain_twice, daemon=True)
    uploader.start()
    waiting.start()
    waiting.join(60)
    assert drained == [True, True]
    assert master.positions == {"user-1": 1}
    [said] = complaints
    assert "journal user-0 cannot be read" in said
    uploader._leave("the test is over")
    writer.close()
