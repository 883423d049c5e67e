"""Event files are what TensorBoard reads: TFRecords with right checksums around protobuf events."""

import struct
from pathlib import Path
from typing import Any

import pytest

from determined.storage.shared_fs.manager import SharedFSStorageManager
from determined.tensorboard import EventFile, TensorboardManager, event_prefix
from determined.tensorboard import crc32c as sums
from determined.tensorboard.crc32c import crc32c, masked


@pytest.mark.parametrize("already", [0, sums._WIDE_AFTER])
@pytest.mark.parametrize(
    ("data", "crc"),
    [(b"", 0), (b"123456789", 0xE3069283), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43)],
)
def test_checksums_are_those_of_rfc_3720_before_and_after_much_was_written(
    data: bytes, crc: int, already: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sums._summed, "bytes", already)
    assert crc32c(data) == crc


def test_few_events_do_without_the_large_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums._summed, "bytes", 0)
    monkeypatch.setattr(sums, "_wide", lambda: pytest.fail("it takes longer to make than a short trial lives"))
    crc32c(bytes(10_000))


def _records(raw: bytes) -> list[bytes]:
    found = []
    while raw:
        (length,) = struct.unpack("<Q", raw[:8])
        assert struct.unpack("<I", raw[8:12])[0] == masked(raw[:8])
        data = raw[12 : 12 + length]
        assert struct.unpack("<I", raw[12 + length : 16 + length])[0] == masked(data)
        found.append(data)
        raw = raw[16 + length :]
    return found


def _fields(message: bytes) -> list[tuple[int, Any]]:
    """(field, value) of a protobuf message: numbers for fixed and varint fields, bytes for the others."""
    fields = []
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(message, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", message, at)[0], at + 8
        elif kind == 5:
            value, at = struct.unpack_from("<f", message, at)[0], at + 4
        else:
            length, at = _varint(message, at)
            value, at = message[at : at + length], at + length
        fields.append((key >> 3, value))
    return fields


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80:
            return value, at


def test_scalars_are_readable_events(tmp_path: Path) -> None:
    file = EventFile(tmp_path, 1000.5)
    file.add_scalars(300, 1001.5, {"Determined/loss": 0.5, "Determined/acc": 1.0})
    file.add_scalars(301, 1002.5, {"Determined/loss": 1e300})
    file.close()
    version, first, second = (_fields(record) for record in _records(file.path.read_bytes()))
    assert version == [(1, 1000.5), (3, b"brain.Event:2")]
    assert first[:2] == [(1, 1001.5), (2, 300)]
    values = [_fields(value) for _, value in _fields(first[2][1])]
    assert values == [[(1, b"Determined/loss"), (2, 0.5)], [(1, b"Determined/acc"), (2, 1.0)]]
    assert _fields(_fields(second[2][1])[0][1])[1] == (2, float("inf"))
    assert file.path.name.startswith("events.out.tfevents.0000001000.")


def test_only_files_that_changed_are_copied(tmp_path: Path) -> None:
    storage = SharedFSStorageManager(str(tmp_path / "store"))
    manager = TensorboardManager(tmp_path / "local", storage, event_prefix("c", 1, 2))
    (manager.base_path / "a").write_text("1")
    assert manager.sync() == 1
    assert manager.sync() == 0
    (manager.base_path / "a").write_text("12")
    (manager.base_path / "sub").mkdir()
    (manager.base_path / "sub" / "b").write_text("b")
    assert manager.sync() == 2
    assert storage.read("c/tensorboard/experiment/1/trial/2/sub/b") == b"b"
