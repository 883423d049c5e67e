"""Reports become events, and a flood of them is thinned without losing its end."""

import time
from pathlib import Path

from determined.storage.shared_fs.manager import SharedFSStorageManager
from determined.tensorboard import MetricEvents, TensorboardManager
from determined.wire.codec import to_msgpack
from determined.wire.report import MetricReport


def _stored_events(tmp_path: Path, reports: list[MetricReport]) -> bytes:
    storage = SharedFSStorageManager(str(tmp_path / "store"))
    events = MetricEvents(TensorboardManager(tmp_path / "local", storage, "p"))
    for report in reports:
        events.add(report.group, report.time, to_msgpack(report))
    events.start()
    events.close()
    (file,) = (tmp_path / "store" / "p").iterdir()
    return file.read_bytes()


def test_a_flood_is_thinned_and_its_last_point_kept(tmp_path: Path) -> None:
    flood = [MetricReport("training", step, {"x": float(step)}, 1000 + step / 1000) for step in range(1000)]
    raw = _stored_events(tmp_path, [*flood, MetricReport("training", 1000, {"last": 1.0}, 1000.9999)])
    assert 9 <= raw.count(b"Determined/x") <= 12
    assert raw.count(b"Determined/last") == 1


def test_validations_are_never_thinned(tmp_path: Path) -> None:
    raw = _stored_events(tmp_path, [MetricReport("validation", n, {"x": 1.0}, 1000.0) for n in range(50)])
    assert raw.count(b"Determined/val_x") == 50


def test_batches_come_at_their_own_steps(tmp_path: Path) -> None:
    report = MetricReport("training", 10, {"x": 1.0}, 1000.0, [{"y": 1.0}, {"y": 2.0}])
    raw = _stored_events(tmp_path, [report])
    assert raw.count(b"Determined/y") == 2
    assert (b"\x10\x08" in raw, b"\x10\x09" in raw, b"\x10\x0a" in raw) == (True, True, True)


def test_system_groups_and_reports_without_steps_are_left_out(tmp_path: Path) -> None:
    reports = [
        MetricReport("cpu", None, {"a": 1.0}, 1000.0),
        MetricReport("mine", None, {"b": 1.0}, 1000.0),
        MetricReport("mine", 1, {"c": 1.0}, 1001.0),
    ]
    raw = _stored_events(tmp_path, reports)
    assert b"Determined/mine/c" in raw
    assert b"Determined/cpu" not in raw
    assert b"/b" not in raw


def test_events_are_stored_soon_when_somebody_asks(tmp_path: Path) -> None:
    storage = SharedFSStorageManager(str(tmp_path / "store"))
    events = MetricEvents(TensorboardManager(tmp_path / "local", storage, "p"))
    events.start()
    events.add("training", 1000.0, to_msgpack(MetricReport("training", 1, {"x": 1.0}, 1000.0)))
    events.sync_soon()
    deadline = time.monotonic() + 60
    while not (stored := _whole_files(tmp_path / "store" / "p")) and time.monotonic() < deadline:
        time.sleep(0.01)
    events.close()
    assert [raw.count(b"Determined/x") for raw in stored] == [1]


def _whole_files(directory: Path) -> list[bytes]:
    """Return what is stored by now; a file that is still being copied has another name."""
    return [file.read_bytes() for file in directory.glob("*") if file.suffix != ".part"]


def test_what_was_reported_is_on_disk_when_sync_soon_returns(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where the store should be: nothing is copied")
    storage = SharedFSStorageManager(str(tmp_path / "store"))
    events = MetricEvents(TensorboardManager(tmp_path / "local", storage, "p"))
    events.start()
    try:
        for group in ("training", "training", "validation"):
            report = MetricReport(group, 1, {"x": 1.0}, 1000.0)
            events.add(group, 1000.0, to_msgpack(report))
        events.sync_soon()
        [file] = (tmp_path / "local").iterdir()
        raw = file.read_bytes()
    finally:
        events.close()
    assert (raw.count(b"Determined/x"), raw.count(b"Determined/val_x")) == (2, 1)
