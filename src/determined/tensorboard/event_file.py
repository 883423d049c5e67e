"""Event file: TFRecords of `Event` messages with scalar summaries, encoded by hand (four protobuf fields)."""

import itertools
import os
import struct
from pathlib import Path

from determined.tensorboard.crc32c import masked

_LENGTH, _CRC, _DOUBLE, _FLOAT = struct.Struct("<Q"), struct.Struct("<I"), struct.Struct("<d"), struct.Struct("<f")
_numbers = itertools.count()


class EventFile:
    """Append-only; `flush` makes what was added visible to readers."""

    def __init__(self, directory: Path, time: float) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(time):010d}.{os.uname().nodename}.{os.getpid()}.{next(_numbers)}"
        self.path = directory / name
        self._out = self.path.open("wb")
        self._tags: dict[str, bytes] = {}
        self._heads: dict[int, bytes] = {}
        self._write(_DOUBLE_FIELD_1 + _DOUBLE.pack(time) + _bytes_field(3, b"brain.Event:2"))
        self.flush()

    def add_scalars(self, step: int, time: float, values: dict[str, float]) -> None:
        """Write an event that holds every tag's value at `step`."""
        summary = b"".join(
            _bytes_field(1, self._tag(tag) + _FLOAT_FIELD_2 + _float32(value)) for tag, value in values.items()
        )
        head = _DOUBLE_FIELD_1 + _DOUBLE.pack(time) + _INT_FIELD_2 + _varint(step & 0xFFFFFFFFFFFFFFFF)
        self._write(head + _bytes_field(5, summary))

    def flush(self) -> None:
        self._out.flush()

    def close(self) -> None:
        self._out.close()

    def _tag(self, tag: str) -> bytes:
        encoded = self._tags.get(tag)
        if encoded is None:
            encoded = self._tags[tag] = _bytes_field(1, tag.encode())
        return encoded

    def _write(self, event: bytes) -> None:
        head = self._heads.get(len(event))
        if head is None:
            length = _LENGTH.pack(len(event))
            head = self._heads[len(event)] = length + _CRC.pack(masked(length))
        self._out.write(head + event + _CRC.pack(masked(event)))


_DOUBLE_FIELD_1, _INT_FIELD_2, _FLOAT_FIELD_2 = b"\x09", b"\x10", b"\x15"


def _bytes_field(number: int, value: bytes) -> bytes:
    return bytes((number << 3 | 2,)) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _float32(value: float) -> bytes:
    try:
        return _FLOAT.pack(value)
    except OverflowError:
        return _FLOAT.pack(float("inf") if value > 0 else float("-inf"))
