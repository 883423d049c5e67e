"""Tables as Parquet files, by pyarrow. Only plain columns: nothing in them is ever unpickled."""

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import IO, Any

import msgspec

from determined._imports import load_optional
from determined.bundle.columns import Cells, Column, Kind
from determined.errors import InvalidArgument
from determined.wire.codec import float_from_wire, rfc3339

_ROWS = 65_536  # of a row group, which is held in memory
_READ = 8_192
_MOST_GROUP_BYTES = 256 * 1024 * 1024
# A text that repeats takes no room in the file: what unpacks to more than this is made to fill memory or a database.
_MOST_RATIO, _MOST_TEXT = 1000, 64 * 1024 * 1024
_REPEATED = "name"  # column whose texts are few: one object stands for all that are equal
_GROUP_BYTES = 64 * 1024 * 1024  # of texts: a group is written when it has that many


class ParquetTable:
    def __init__(self, file: IO[bytes], columns: Sequence[Column]) -> None:
        self._arrow, self._parquet = _arrow(), _parquet()
        self._columns = columns
        self._schema = self._arrow.schema([(column.name, _type(self._arrow, column.kind)) for column in columns])
        self._out = self._parquet.ParquetWriter(file, self._schema, compression="zstd", store_schema=False)
        self._cells: list[list[Any]] = [[] for _ in columns]
        self._texts = 0
        self.unpacked: int | None = None

    def add(self, row: Sequence[Any]) -> None:
        for cells, column, cell in zip(self._cells, self._columns, row, strict=True):
            packed = _packed(cell, column.kind)
            self._texts += len(packed) if isinstance(packed, str) else 0
            cells.append(packed)
        if len(self._cells[0]) >= _ROWS or self._texts >= _GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._out.close()

    def _flush(self) -> None:
        if not self._cells[0]:
            return
        arrays = [self._arrow.array(c, type=field.type) for c, field in zip(self._cells, self._schema, strict=True)]
        self._out.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        self._cells, self._texts = [[] for _ in self._columns], 0


def rows(file: IO[bytes], columns: Sequence[Column], name: str) -> Iterator[Cells]:
    """Yield rows by column. Raises InvalidArgument, ImportError."""
    arrow = _arrow()
    texts = [column.name for column in columns if column.kind in (Kind.TEXT, Kind.JSON)]
    try:
        _check(_parquet().read_metadata(file), columns, name)
        size, unpacked = file.seek(0, os.SEEK_END), 0
        file.seek(0)
        # as a dictionary a text that repeats stays as small in memory as it is in the file
        table = _parquet().ParquetFile(file, read_dictionary=texts)
        for batch in table.iter_batches(batch_size=_READ):
            unpacked += sum(_text_bytes(batch.column(text)) for text in texts if text != _REPEATED)
            if unpacked > max(_MOST_TEXT, _MOST_RATIO * size):
                raise InvalidArgument(
                    f"{name}: {size} bytes unpack to more than {unpacked}; no export writes such texts"
                )
            names = [column.name for column in columns]
            cells = [_values(batch.column(column.name), column.kind) for column in columns]
            yield from (dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True))
    except (arrow.ArrowException, OSError, ValueError) as e:
        raise InvalidArgument(f"{name}: cannot be read ({e}); the bundle is damaged, export it again") from e


def _check(metadata: Any, columns: Sequence[Column], name: str) -> None:
    """Refuse other columns, and row groups that would not fit into memory."""
    found = [(field.name, field.type) for field in metadata.schema.to_arrow_schema()]
    if found != [(column.name, _type(_arrow(), column.kind)) for column in columns]:
        shown = ", ".join(f"{column} ({kind})" for column, kind in found[:20])
        raise InvalidArgument(f"{name}: has the columns {shown}, which no bundle has; export it again")
    for number in range(metadata.num_row_groups):
        size = metadata.row_group(number).total_byte_size
        if size > _MOST_GROUP_BYTES:
            raise InvalidArgument(f"{name}: row group {number} unpacks to {size} bytes, more than {_MOST_GROUP_BYTES}")


def _text_bytes(array: Any) -> int:
    """Count the bytes of the texts of a column before any of them is made."""
    compute = load_optional("pyarrow.compute", extra="parquet")
    if hasattr(array, "dictionary"):
        return compute.sum(compute.binary_length(array.dictionary).take(array.indices)).as_py() or 0
    return compute.sum(compute.binary_length(array)).as_py() or 0


def _values(array: Any, kind: Kind) -> list[Any]:
    if kind in (Kind.TEXT, Kind.JSON) and hasattr(array, "dictionary"):
        texts = array.dictionary.to_pylist()
        picked = [None if i is None else texts[i] for i in array.indices.to_pylist()]
    else:
        picked = array.to_pylist()
    if kind == Kind.TIME:
        return _times(picked)
    if kind == Kind.JSON:
        return [None if cell is None else msgspec.json.decode(cell) for cell in picked]
    return picked


def _times(cells: list[datetime | None]) -> list[str | None]:
    """Return times as text; rows of one report have the same."""
    texts: list[str | None] = []
    last, text = None, None
    for cell in cells:
        if cell != last:
            last, text = cell, None if cell is None else rfc3339(cell)
        texts.append(text)
    return texts


def _packed(cell: Any, kind: Kind) -> Any:
    if cell is None:
        return None
    if kind == Kind.TIME:
        return datetime.fromisoformat(cell)
    if kind == Kind.JSON:
        return msgspec.json.encode(cell).decode()
    return float_from_wire(cell) if kind == Kind.FLOAT else cell


def _type(arrow: Any, kind: Kind) -> Any:
    return {
        Kind.INT: arrow.int64,
        Kind.FLOAT: arrow.float64,
        Kind.TEXT: arrow.string,
        Kind.JSON: arrow.string,
        Kind.BOOL: arrow.bool_,
        Kind.TIME: lambda: arrow.timestamp("us", tz="UTC"),
    }[kind]()


def _arrow() -> Any:
    return load_optional("pyarrow", extra="parquet")


def _parquet() -> Any:
    return load_optional("pyarrow.parquet", extra="parquet")
