"""Event files byte by byte: a reader of a growing or cut file sees whole events, whatever was written."""

import struct
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from determined.tensorboard import EventFile
from determined.tensorboard.crc32c import masked
from determined.tensorboard.event_file import _float32, _varint
from determined.tensorboard.tags import tag_of
from determined.tensorboard.upload_thread import UploadThread
from determined.tensorboard.util import get_rank_aware_path


def whole_events(raw: bytes) -> list[bytes]:
    """Return the events that a careful reader finds before the end, a cut or damage."""
    found, at = [], 0
    while len(raw) - at >= 16:
        (length,) = struct.unpack_from("<Q", raw, at)
        end = at + 12 + length
        if struct.unpack_from("<I", raw, at + 8)[0] != masked(raw[at : at + 8]) or end + 4 > len(raw):
            break
        if struct.unpack_from("<I", raw, end)[0] != masked(raw[at + 12 : end]):
            break
        found.append(raw[at + 12 : end])
        at = end + 4
    return found


def written(directory: Path, count: int = 4) -> EventFile:
    file = EventFile(directory, 10.0)
    for step in range(count):
        file.add_scalars(step, 11.0 + step, {"Determined/loss": step / 7, f"Determined/{'m' * step * 40}": 1.0})
    file.flush()
    return file


def test_a_file_cut_at_any_byte_gives_the_whole_events_before_it(tmp_path: Path) -> None:
    file = written(tmp_path)
    raw = file.path.read_bytes()
    events = whole_events(raw)
    assert len(events) == 5
    ends = [sum(len(event) + 16 for event in events[: n + 1]) for n in range(5)]
    for cut in range(len(raw) + 1):
        assert whole_events(raw[:cut]) == events[: sum(end <= cut for end in ends)]


def test_damage_anywhere_is_noticed_by_its_checksum(tmp_path: Path) -> None:
    raw = written(tmp_path, 2).path.read_bytes()
    events = whole_events(raw)
    for place in range(len(raw)):
        spoilt = bytearray(raw)
        spoilt[place] ^= 0x10
        found = whole_events(bytes(spoilt))
        assert len(found) < len(events) and found == events[: len(found)], place


def test_what_was_flushed_is_there_while_the_file_is_still_written(tmp_path: Path) -> None:
    file = EventFile(tmp_path, 10.0)
    assert len(whole_events(file.path.read_bytes())) == 1, "a reader knows the kind of file at once"
    file.add_scalars(1, 11.0, {"a": 1.0})
    file.flush()
    assert len(whole_events(file.path.read_bytes())) == 2
    file.close()


def test_two_files_of_one_process_and_second_are_two(tmp_path: Path) -> None:
    first, second = EventFile(tmp_path / "deep" / "er", 10.0), EventFile(tmp_path / "deep" / "er", 10.9)
    assert first.path != second.path
    assert all("tfevents.0000000010." in file.path.name for file in (first, second))


@settings(max_examples=200)
@given(st.integers(0, 2**64 - 1))
def test_numbers_of_any_size_are_read_back(number: int) -> None:
    value = shift = 0
    for byte in _varint(number):
        value |= (byte & 0x7F) << shift
        shift += 7
    assert value == number
    assert [byte >= 0x80 for byte in _varint(number)] == [True] * (len(_varint(number)) - 1) + [False]


@pytest.mark.parametrize(
    ("value", "stored"),
    [(1e39, float("inf")), (-1e39, float("-inf")), (1e-50, 0.0), (0.5, 0.5), (float("inf"), float("inf"))],
)
def test_values_beyond_single_precision_become_infinite(value: float, stored: float) -> None:
    assert struct.unpack("<f", _float32(value))[0] == stored


def test_a_negative_step_and_a_unicode_tag_are_stored(tmp_path: Path) -> None:
    file = EventFile(tmp_path, 1.0)
    file.add_scalars(-1, 2.0, {"größe": float("nan")})
    file.close()
    event = whole_events(file.path.read_bytes())[1]
    assert event[9:20] == b"\x10" + b"\xff" * 9 + b"\x01", "as protobuf writes -1"
    assert "größe".encode() in event


@pytest.mark.parametrize(
    ("group", "name", "tag"),
    [
        ("training", "loss", "Determined/loss"), ("validation", "loss", "Determined/val_loss"),
        ("validation", "val_acc", "Determined/val_acc"), ("validation", "value", "Determined/value"),
        ("inference", "acc", "Determined/inference/acc"),
    ],
)  # fmt: skip
def test_training_and_validation_stand_side_by_side(group: str, name: str, tag: str) -> None:
    assert tag_of(group, name) == tag


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("host_12.1700.pt.trace.json", "host_12#3.1700.pt.trace.json"),
        ("a.b.1700.pt.trace.json.gz", "a.b#3.1700.pt.trace.json.gz"),
        ("trace.pt.trace.json", "trace#3.pt.trace.json"),
        ("host.xplane.pb", "host#3.xplane.pb"),
        ("host.memory_profile.json.gz", "host#3.memory_profile.json.gz"),
        ("events.out.tfevents.1.host", "events.out.tfevents.1.host"),
        ("notes.json", "notes.json"),
    ],
)
def test_profiles_of_several_ranks_of_a_host_do_not_overwrite_each_other(name: str, expected: str) -> None:
    assert get_rank_aware_path(Path("plugins/profile") / name, 3) == Path("plugins/profile") / expected


def test_a_thread_does_what_it_is_asked_for_in_order_before_it_is_closed() -> None:
    thread, done = UploadThread(), []
    thread.close()
    thread.start()
    thread.start()
    assert thread.is_alive
    for number in range(20):
        thread.ask(lambda number=number: done.append(number))  # type: ignore[misc]
    thread.close()
    assert done == list(range(20)) and not thread.is_alive


def test_a_thread_that_is_busy_leaves_out_what_nobody_can_wait_for(caplog: pytest.LogCaptureFixture) -> None:
    thread, begun, gate, done = UploadThread(), threading.Event(), threading.Event(), []
    thread.start()
    thread.ask(lambda: begun.set() or gate.wait(60))
    assert begun.wait(60)
    for number in range(60):
        thread.ask(lambda number=number: done.append(number))  # type: ignore[misc]
    gate.set()
    thread.close()
    assert done == list(range(50))
    assert "50 copies of TensorBoard events are waiting; left one out" in caplog.text
