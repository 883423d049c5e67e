"""Up to 1024 metric reports of one series as bytes, column by column: one metric is read without decoding the others.

Layout: version byte, header length (u32), MessagePack header, then the columns. Steps are int64, times float64; a
metric is float64, int64 or (text, booleans, nested and mixed values) MessagePack; a bitmap says which reports carry it.
"""

import struct
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import msgspec

MAX_ROWS = 1024  # ids of stored reports leave room for so many in a chunk
FULL_ROWS = 512  # from so many on a chunk is not added to any more
# A tail beyond this many bytes is not rewritten any more: wide reports would otherwise cost ever more per append.
MAX_TAIL_BYTES = 64 * 1024

_VERSION = 1
_PREFIX = struct.Struct("<BI")
_WORD = 8


@dataclass(slots=True)
class Row:
    """Row of a report. `metrics` keeps ints, floats, booleans and nested values as they were reported."""

    step: int
    time: float  # seconds since the epoch
    metrics: dict[str, Any]
    batch_metrics: list[dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """The values of one metric; `rows` are the indices of the reports that carry it (None: all of them)."""

    values: Sequence[Any]
    rows: list[int] | None

    def dense(self, n: int, absent: Any = None) -> Sequence[Any]:
        if self.rows is None:
            return self.values
        out = [absent] * n
        for i, value in zip(self.rows, self.values, strict=True):
            out[i] = value
        return out

    def part(self, start: int, end: int) -> "Column":
        """Return the values of the reports from `start` to before `end`."""
        if self.rows is None:
            return Column(self.values[start:end], None)
        first, last = bisect_left(self.rows, start), bisect_left(self.rows, end)
        return Column(self.values[first:last], [i - start for i in self.rows[first:last]])


_ABSENT = Column((), [])


@dataclass(frozen=True, slots=True)
class Reports:
    """Reports column by column, as they are packed and summed up."""

    steps: Sequence[int]
    times: Sequence[float]
    columns: dict[str, Column]
    batches: Sequence[list[dict[str, Any]] | None]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "Reports":
        columns = gather([row.metrics for row in rows])
        batches = [row.batch_metrics for row in rows]
        return cls([row.step for row in rows], [row.time for row in rows], columns, batches)

    def part(self, start: int, end: int) -> "Reports":
        """Return the reports from `start` to before `end`."""
        columns = {name: part for name, c in self.columns.items() if (part := c.part(start, end)).values}
        return Reports(self.steps[start:end], self.times[start:end], columns, self.batches[start:end])

    def followed_by(self, later: "Reports") -> "Reports":
        """Return these reports and, after them, later ones."""
        n, m = len(self.steps), len(later.steps)
        columns = {
            name: _joined(self.columns.get(name, _ABSENT), n, later.columns.get(name, _ABSENT), m)
            for name in self.columns | later.columns
        }
        steps, times = [*self.steps, *later.steps], [*self.times, *later.times]
        return Reports(steps, times, columns, [*self.batches, *later.batches])


class _ColumnEntry(msgspec.Struct, array_like=True):
    name: str
    kind: str  # d: float64, q: int64, m: MessagePack list
    offset: int
    size: int
    present: bytes | None = None


class _Header(msgspec.Struct, array_like=True):
    n: int
    columns: list[_ColumnEntry]
    batch: _ColumnEntry | None = None


_header_encoder = msgspec.msgpack.Encoder()
_header_decoder = msgspec.msgpack.Decoder(_Header)
_list_decoder = msgspec.msgpack.Decoder(list[Any])


def encode(rows: Sequence[Row]) -> bytes:
    """Pack the rows in the given order."""
    return encode_columns(Reports.of(rows))


def encode_columns(reports: Reports) -> bytes:
    """Pack reports that are columns already, in the given order."""
    n = len(reports.steps)
    body = [array("q", reports.steps).tobytes(), array("d", reports.times).tobytes()]
    offset = 2 * _WORD * n
    entries: list[_ColumnEntry] = []
    for name, column in reports.columns.items():
        kind, packed = _pack(column.values)
        entries.append(_ColumnEntry(name, kind, offset, len(packed), _bitmap(column.rows, n)))
        body.append(packed)
        offset += len(packed)
    batch = None
    if reports.batches.count(None) < n:
        packed = _header_encoder.encode(reports.batches)
        batch = _ColumnEntry("", "m", offset, len(packed))
        body.append(packed)
    header = _header_encoder.encode(_Header(n, entries, batch))
    return b"".join([_PREFIX.pack(_VERSION, len(header)), header, *body])


def decode(data: bytes) -> list[Row]:
    """Return all rows exactly as they were encoded."""
    return Chunk(data).rows()


class Chunk:
    """A lazy view: the header is decoded, columns are sliced out when asked for."""

    def __init__(self, data: bytes) -> None:
        version, size = _PREFIX.unpack_from(data)
        if version != _VERSION:
            raise ValueError(f"metric chunk version {version} is unknown; this master writes version {_VERSION}")
        view = memoryview(data)
        header = _header_decoder.decode(view[_PREFIX.size : _PREFIX.size + size])
        self.n = header.n
        self._body = view[_PREFIX.size + size :]
        self._columns = {c.name: c for c in header.columns}
        self._batch = header.batch

    @property
    def names(self) -> list[str]:
        return list(self._columns)

    @property
    def steps(self) -> Sequence[int]:
        return _unpack_array("q", self._body[: _WORD * self.n])

    @property
    def times(self) -> Sequence[float]:
        return _unpack_array("d", self._body[_WORD * self.n : 2 * _WORD * self.n])

    def column(self, name: str) -> Column | None:
        entry = self._columns.get(name)
        if entry is None:
            return None
        raw = self._body[entry.offset : entry.offset + entry.size]
        values = _list_decoder.decode(raw) if entry.kind == "m" else _unpack_array(entry.kind, raw)
        return Column(values, None if entry.present is None else _indices(entry.present, self.n))

    def reports(self) -> Reports:
        columns = {name: column for name in self._columns if (column := self.column(name))}
        return Reports(self.steps, self.times, columns, self.batch_metrics())

    def rows(self) -> list[Row]:
        metrics: list[dict[str, Any]] = [{} for _ in range(self.n)]
        for name in self._columns:
            self._fill(metrics, name)
        columns = zip(self.steps, self.times, metrics, self.batch_metrics(), strict=True)
        return [Row(step, time, values, batch) for step, time, values, batch in columns]

    def batch_metrics(self) -> list[list[dict[str, Any]] | None]:
        if self._batch is None:
            return [None] * self.n
        return _list_decoder.decode(self._body[self._batch.offset : self._batch.offset + self._batch.size])

    def _fill(self, rows: list[dict[str, Any]], name: str) -> None:
        column = self.column(name)
        if column is None:
            return
        targets = rows if column.rows is None else [rows[i] for i in column.rows]
        for target, value in zip(targets, column.values, strict=True):
            target[name] = value


def gather(rows: Sequence[dict[str, Any]]) -> dict[str, Column]:
    """Turn reports into columns. Reports that all have the same names, the usual case, cost one pass per name."""
    if not rows:
        return {}
    names = rows[0].keys()
    if set(map(len, rows)) == {len(names)}:
        with suppress(KeyError):
            return {name: Column(list(map(itemgetter(name), rows)), None) for name in names}
    return _gather_sparse(rows)


def _gather_sparse(rows: Sequence[dict[str, Any]]) -> dict[str, Column]:
    columns: dict[str, tuple[list[Any], list[int]]] = {}
    for i, row in enumerate(rows):
        for name, value in row.items():
            values, indices = columns.setdefault(name, ([], []))
            values.append(value)
            indices.append(i)
    n = len(rows)
    return {name: Column(values, None if len(at) == n else at) for name, (values, at) in columns.items()}


def _pack(values: Sequence[Any]) -> tuple[str, bytes]:
    numbers = _array(values)
    if numbers is not None:
        return numbers.typecode, numbers.tobytes()
    return "m", _header_encoder.encode(values)


def _array(values: Sequence[Any]) -> "array[Any] | None":
    """Return values that are all floats, or all integers, as an array; None for others."""
    if isinstance(values, array):
        return values
    kinds = set(map(type, values))
    if kinds == {float}:
        return array("d", values)
    if kinds == {int}:
        try:
            return array("q", values)
        except OverflowError:
            return array("d", [float(v) for v in values])
    return None


def _joined(first: Column, n: int, second: Column, m: int) -> Column:
    """Put the columns of `n` reports and of `m` later ones together."""
    values = _concatenated(first.values, second.values)
    if first.rows is None and second.rows is None:
        return Column(values, None)
    before = range(n) if first.rows is None else first.rows
    after = range(m) if second.rows is None else second.rows
    return Column(values, [*before, *(n + i for i in after)])


def _concatenated(first: Sequence[Any], second: Sequence[Any]) -> Sequence[Any]:
    """Concatenate values; numbers of one type stay an array, which is packed without a look at each."""
    if isinstance(first, array):
        numbers = _array(second)
        if numbers is not None and numbers.typecode == first.typecode:
            return first + numbers
    return [*first, *second]


def _unpack_array(kind: str, raw: memoryview) -> "array[Any]":
    out = array(kind)
    out.frombytes(raw)
    return out


def _bitmap(rows: list[int] | None, n: int) -> bytes | None:
    if rows is None:
        return None
    bits = bytearray((n + 7) // 8)
    for i in rows:
        bits[i >> 3] |= 1 << (i & 7)
    return bytes(bits)


def _indices(bitmap: bytes, n: int) -> list[int]:
    return [i for i in range(n) if bitmap[i >> 3] >> (i & 7) & 1]
