"""Scalars are read back from event files while they grow, whatever else is in them."""

import struct
from pathlib import Path

import pytest

from determined.exec.detached.event_watch import event_files, group_of
from determined.tensorboard import EventFile
from determined.tensorboard.event_reader import EventReader, Scalar, scalars_of


def test_scalars_come_back_as_they_were_written(tmp_path: Path) -> None:
    file = EventFile(tmp_path, 1000.0)
    reader = EventReader(file.path)
    assert reader.read() == []
    file.add_scalars(1, 1001.0, {"loss": 0.5, "acc": 1.0})
    file.add_scalars(2**40, 1002.0, {"loss": 0.25})
    file.flush()
    assert reader.read() == [
        Scalar("loss", 1, 1001.0, 0.5), Scalar("acc", 1, 1001.0, 1.0), Scalar("loss", 2**40, 1002.0, 0.25),
    ]  # fmt: skip
    assert reader.read() == []


def test_half_a_record_is_read_when_it_is_whole(tmp_path: Path) -> None:
    file = EventFile(tmp_path / "whole", 1000.0)
    file.add_scalars(1, 1001.0, {"loss": 0.5})
    file.close()
    content, growing = file.path.read_bytes(), tmp_path / "events.out.tfevents.1"
    read: list[Scalar] = []
    growing.write_bytes(b"")
    reader = EventReader(growing)
    for end in range(len(content) + 1):
        growing.write_bytes(content[:end])
        read += reader.read()
    assert read == [Scalar("loss", 1, 1001.0, 0.5)]


def test_files_that_are_no_event_files_are_given_up(tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(b"\xff" * 1000)
    reader = EventReader(path)
    assert (reader.read(), reader.is_damaged) == ([], True)


@pytest.mark.parametrize("raw", [b"\xff", b"\x0a\xff", b"\x80" * 20, b"\x07"])
def test_bytes_that_are_no_event_are_refused(raw: bytes) -> None:
    with pytest.raises((ValueError, struct.error)):
        list(scalars_of(raw))


def field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value


@pytest.mark.parametrize(
    ("tensor", "value"),
    [
        (b"\x08\x01" + field(5, struct.pack("<f", 0.5)), 0.5),
        (b"\x08\x01\x2d" + struct.pack("<f", 0.5), 0.5),
        (b"\x08\x02" + field(4, struct.pack("<d", 0.25)), 0.25),
        (b"\x08\x03\x38\x07", 7.0),
        (b"\x08\x09" + field(10, b"\x07"), 7.0),
        (b"\x08\x01" + field(2, field(2, b"\x08\x02")) + field(4, bytes(8)), None),
        (b"\x08\x07" + field(8, b"text"), None),
    ],
)
def test_tensors_of_one_number_are_scalars(tensor: bytes, value: float | None) -> None:
    event = b"\x10\x03" + field(5, field(1, field(1, b"new") + field(8, tensor)))
    assert list(scalars_of(event)) == ([] if value is None else [Scalar("new", 3, 0.0, value)])


def test_only_new_event_files_below_a_directory_are_found(tmp_path: Path) -> None:
    wanted = tmp_path / "runs" / "a" / "events.out.tfevents.1.host"
    hidden, skipped = tmp_path / ".git" / wanted.name, tmp_path / "node_modules" / wanted.name
    for path in (wanted, hidden, skipped, tmp_path / "other.txt"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert list(event_files([tmp_path, tmp_path / "missing"], 0.0)) == [wanted]
    assert list(event_files([tmp_path], wanted.stat().st_mtime + 1)) == []


@pytest.mark.parametrize(
    ("tag", "directory", "group"),
    [("loss", "runs", "training"), ("val_loss", "runs", "validation"), ("Loss/test", "x", "validation"),
     ("epoch_loss", "validation", "validation"), ("latest", "interval", "training")],
)  # fmt: skip
def test_tags_and_directories_tell_the_group(tag: str, directory: str, group: str) -> None:
    assert group_of(tag, directory) == group


def test_a_shape_of_millions_of_sizes_is_no_number_and_takes_no_time() -> None:
    """Their product has millions of digits: to multiply them takes hours."""
    dimension = bytes([2 << 3 | 2, 3, 1 << 3, 0x82, 0x01])
    size = b"\x12" + _varint_of(len(dimension) * 400_000) + dimension * 400_000
    tensor = b"\x08\x01" + size
    value = b"\x0a\x01t" + b"\x42" + _varint_of(len(tensor)) + tensor
    summary = b"\x0a" + _varint_of(len(value)) + value
    assert list(scalars_of(b"\x2a" + _varint_of(len(summary)) + summary)) == []


def _varint_of(number: int) -> bytes:
    return bytes([number & 0x7F]) if number < 0x80 else bytes([number & 0x7F | 0x80]) + _varint_of(number >> 7)
