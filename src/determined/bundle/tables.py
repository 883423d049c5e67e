"""Tables of a bundle: rows in a file, as Parquet where pyarrow is installed, else as JSON lines."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import IO, Any, Protocol

import msgspec

from determined.bundle.columns import Cells, Column, Kind
from determined.bundle.layout import JSON_LINES, PARQUET
from determined.errors import InvalidArgument
from determined.wire.codec import float_from_wire, float_to_wire

_LONGEST_LINE = 64 * 1024 * 1024
_BLOCK = 1024 * 1024


class Writer(Protocol):
    """Writer of a table into an open file, which stays open. `unpacked`: bytes written so far, before compression."""

    unpacked: int | None

    def add(self, row: Sequence[Any]) -> None:
        """Add a row: a cell for each column, in their order."""

    def close(self) -> None: ...


def form_here() -> str:
    """Return the form that is written where nobody names one."""
    return PARQUET if find_spec("pyarrow") is not None else JSON_LINES


def writer(file: IO[bytes], columns: Sequence[Column], form: str) -> Writer:
    """Raises ImportError where the form needs a library that is missing."""
    if form == JSON_LINES:
        return JsonLines(file, columns)
    from determined.bundle.parquet import ParquetTable

    return ParquetTable(file, columns)


def rows(file: IO[bytes], columns: Sequence[Column], form: str, name: str, unpacked: int | None) -> Iterator[Cells]:
    """Yield the rows of a table by column. `name` is that of the file, for messages.

    Raises:
        InvalidArgument: it cannot be read, or is larger than it says.
        ImportError: the form needs a library that is missing.
    """
    if form == JSON_LINES:
        return _json_rows(file, columns, name, unpacked)
    from determined.bundle import parquet

    return parquet.rows(file, columns, name)


class JsonLines:
    """A JSON object per line, compressed; cells that are None are left out."""

    def __init__(self, file: IO[bytes], columns: Sequence[Column] = ()) -> None:
        self._names = [column.name for column in columns]
        self._floats = {column.name for column in columns if column.kind == Kind.FLOAT}
        self._packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
        self.unpacked: int | None = 0

    def add(self, row: Sequence[Any]) -> None:
        cells = {name: cell for name, cell in zip(self._names, row, strict=True) if cell is not None}
        for name in self._floats & cells.keys():
            cells[name] = float_to_wire(float_from_wire(cells[name]))
        self.add_line(msgspec.json.encode(cells))

    def add_line(self, line: bytes) -> None:
        self._packed.write(line + b"\n")
        self.unpacked = (self.unpacked or 0) + len(line) + 1

    def close(self) -> None:
        self._packed.close()


def lines(file: IO[bytes], name: str, unpacked: int | None) -> Iterator[bytes]:
    """Yield the lines of a compressed file, no more of it than it says. Raises InvalidArgument."""
    rest, total = b"", 0
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as packed:
            while block := packed.read(_BLOCK):
                total += len(block)
                _require(
                    unpacked is None or total <= unpacked, name, f"unpacks to more than the {unpacked} bytes it says"
                )
                *whole, rest = (rest + block).split(b"\n")
                _require(len(rest) <= _LONGEST_LINE, name, f"has a line of more than {_LONGEST_LINE} bytes")
                yield from whole
    except (OSError, EOFError, zlib.error) as e:
        raise InvalidArgument(f"{name}: cannot be unpacked ({e}); export it again") from e
    _require(not rest and unpacked in (None, total), name, "is shorter than it says")


def plain_lines(file: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the entries of a JSON list that has one on each line. Raises InvalidArgument."""
    while line := file.readline(_LONGEST_LINE + 1):
        _require(len(line) <= _LONGEST_LINE, name, f"has a line of more than {_LONGEST_LINE} bytes")
        entry = line.rstrip(b"\n").removesuffix(b",")
        if entry not in (b"[", b"]", b"[]", b""):
            yield entry


def _json_rows(file: IO[bytes], columns: Sequence[Column], name: str, unpacked: int | None) -> Iterator[Cells]:
    kinds = {column.name: column.kind for column in columns}
    for number, line in enumerate(lines(file, name, unpacked), 1):
        try:
            cells = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError) as e:
            raise InvalidArgument(f"{name}, line {number}: {e}; the bundle is damaged, export it again") from e
        unknown = cells.keys() - kinds.keys()
        _require(not unknown, name, f"line {number} has unknown columns: {', '.join(sorted(unknown)[:3])}")
        yield {column: cells.get(column) for column in kinds}


def _require(condition: bool, name: str, problem: str) -> None:
    if not condition:
        raise InvalidArgument(f"{name}: {problem}; the bundle is damaged, export it again")
