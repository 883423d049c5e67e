"""Reader of scalars from event files while they grow: TFRecords of `Event` messages, decoded by hand.

It reads what `EventFile` writes, and what TensorBoard, TensorFlow, PyTorch and Keras write: simple values, and tensors
of one number. Everything else in a file is skipped.
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from determined.tensorboard.protobuf import fields, varint

_LENGTH = struct.Struct("<Q")
_CRC_BYTES = 4
_LONGEST_RECORD = 64 << 20  # more is not an event file
_DT_FLOAT, _DT_DOUBLE, _DT_INT32, _DT_INT64 = 1, 2, 3, 9


@dataclass(frozen=True, slots=True)
class Scalar:
    tag: str
    step: int
    time: float
    value: float


class EventReader:
    """Reader of one file. Each `read` goes on where the last one ended; half a record is left for the next."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_damaged = False
        self._offset = 0

    def read(self) -> list[Scalar]:
        """Return the scalars that have come since the last call. Raises OSError where the file cannot be read."""
        if self.is_damaged:
            return []
        return [scalar for record in self.records() for scalar in self._scalars(record)]

    def records(self) -> Iterator[bytes]:
        """Yield the encoded events that have come since the last call. Raises OSError."""
        with self.path.open("rb") as file:
            file.seek(self._offset)
            while (record := self._record(file.read(_LENGTH.size + _CRC_BYTES), file)) is not None:
                yield record

    def _record(self, head: bytes, file: IO[bytes]) -> bytes | None:
        if len(head) < _LENGTH.size + _CRC_BYTES:
            return None
        (size,) = _LENGTH.unpack_from(head)
        if size > _LONGEST_RECORD:
            self.is_damaged = True
            return None
        body = file.read(size + _CRC_BYTES)
        if len(body) < size + _CRC_BYTES:
            return None
        self._offset += len(head) + len(body)
        return body[:size]

    def _scalars(self, record: bytes) -> list[Scalar]:
        try:
            return list(scalars_of(record))
        except (ValueError, struct.error):
            return []  # one bad record; its length was good, so the next can be read


def scalars_of(event: bytes) -> Iterator[Scalar]:
    """Yield the scalars of an encoded `Event`. Raises ValueError or struct.error for bytes that are none."""
    time, step, summaries = 0.0, 0, []
    for number, value in fields(event):
        if number == 1 and isinstance(value, bytes):
            (time,) = struct.unpack("<d", value)
        elif number == 2 and isinstance(value, int):
            step = value - (1 << 64) if value >= 1 << 63 else value
        elif number == 5 and isinstance(value, bytes):
            summaries.append(value)
    for number, value in (field for summary in summaries for field in fields(summary)):
        if number != 1 or not isinstance(value, bytes):
            continue
        tag, scalar = _value(value)
        if tag and scalar is not None:
            yield Scalar(tag, step, time, scalar)


def plugin_contents(path: Path, plugin: str) -> Iterator[bytes]:
    """Yield what a plugin of TensorBoard has written with the summaries of a file. Raises OSError."""
    for record in EventReader(path).records():
        try:
            yield from list(_plugin_contents(record, plugin.encode()))
        except ValueError:
            continue


def _plugin_contents(event: bytes, plugin: bytes) -> Iterator[bytes]:
    """Yield the content of `summary.value.metadata.plugin_data` of a plugin."""
    for metadata in _below([event], 5, 1, 9):
        for data in _below([metadata], 1):
            named = dict(fields(data))
            content = named.get(2, b"")
            if named.get(1) == plugin and isinstance(content, bytes):
                yield content


def _below(messages: Iterable[bytes], *path: int) -> Iterator[bytes]:
    """Yield the messages at a path of field numbers."""
    for message in messages:
        found = (value for number, value in fields(message) if number == path[0] and isinstance(value, bytes))
        yield from _below(found, *path[1:]) if len(path) > 1 else found


def _value(message: bytes) -> tuple[str, float | None]:
    """Return tag and number of a `Summary.Value`; None where it has no number."""
    tag, number = "", None
    for field, value in fields(message):
        if field == 1 and isinstance(value, bytes):
            tag = value.decode()
        elif field == 2 and isinstance(value, bytes):
            (number,) = struct.unpack("<f", value)
        elif field == 8 and isinstance(value, bytes):
            number = _tensor(value)
    return tag, number


def _tensor(message: bytes) -> float | None:
    """Return the number of a `TensorProto` that holds exactly one."""
    kind, is_one, content, listed = 0, True, b"", {}
    for field, value in fields(message):
        if field == 1 and isinstance(value, int):
            kind = value
        elif field == 2 and isinstance(value, bytes):
            is_one = _has_one_element(value)
        elif field == 4 and isinstance(value, bytes):
            content = value
        else:
            listed[field] = value
    if not is_one:
        return None
    return _number(kind, content, listed)


def _number(kind: int, content: bytes, listed: dict[int, int | bytes]) -> float | None:
    formats = {_DT_FLOAT: ("<f", 5), _DT_DOUBLE: ("<d", 6), _DT_INT32: ("<i", 7), _DT_INT64: ("<q", 10)}
    if kind not in formats:
        return None
    form, field = formats[kind]
    if content:
        return float(struct.unpack(form, content)[0]) if len(content) == struct.calcsize(form) else None
    value = listed.get(field)
    if isinstance(value, int):
        return float(value)
    if not value:
        return None
    if kind in (_DT_INT32, _DT_INT64):
        return float(varint(value, 0)[0])
    return float(struct.unpack(form, value)[0])


def _has_one_element(shape: bytes) -> bool:
    """Say whether a `TensorShapeProto` is of one number. Its sizes are not multiplied: a file may hold millions."""
    return all(
        size == 1
        for field, dim in fields(shape)
        if field == 2 and isinstance(dim, bytes)
        for number, size in fields(dim)
        if number == 1
    )
