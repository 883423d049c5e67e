"""The numbers of single metrics against batches, epochs or time, chunk by chunk as they are stored."""

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import le
from typing import Any

from sqlalchemy import Connection

from determined.master.db.metric_chunk import Chunk
from determined.master.db.queries.metric_live import LiveChunk, live_chunks
from determined.wire.metric import SeriesAxis

_EPOCHS = ("epoch", "epochs")


@dataclass(frozen=True, slots=True)
class Window:
    """Window of reports: between two steps, and between two values of the axis. All bounds are included."""

    first: int | None = None
    last: int | None = None
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Points:
    """Part of one metric's series."""

    name: str
    x: Sequence[Any]
    y: Sequence[float]


def parts(
    conn: Connection, trial_id: int, group: str, names: Sequence[str], axis: SeriesAxis, window: Window
) -> Iterator[Points]:
    """Chunk by chunk, by run and step: almost always ascending (`ascending` says whether)."""
    for part in live_chunks(conn, trial_id, group, first=window.first, last=window.last):
        places = _places(part.chunk, axis)
        if places is None:
            continue
        rows = _rows(part, places, axis, window)
        for name in names:
            numbers = _numbers(part.chunk, name, places, rows)
            if numbers is not None and numbers.y:
                yield numbers


def ascending(x: Sequence[Any], after: float) -> bool:
    """Return whether it goes on from `after` without a step back."""
    return not x or (after <= x[0] and all(map(le, x, x[1:])))


def _places(chunk: Chunk, axis: SeriesAxis) -> Sequence[Any] | None:
    """x of every report of a chunk, None where it has none; None when no report has one."""
    if axis is SeriesAxis.BATCH:
        return chunk.steps
    if axis is SeriesAxis.TIME:
        return chunk.times
    for name in _EPOCHS:
        column = chunk.column(name)
        if column is not None:
            return column.dense(chunk.n)
    return None


def _rows(part: LiveChunk, places: Sequence[Any], axis: SeriesAxis, window: Window) -> list[int] | None:
    """Return the reports that count and lie in the window; None for all of them, the usual case."""
    steps = part.chunk.steps
    low = -math.inf if window.first is None else window.first
    high = math.inf if window.last is None else window.last
    beyond = math.inf if part.cutoff is None else part.cutoff
    whole = low <= min(steps) and max(steps) <= high and max(steps) < beyond
    placed = axis is SeriesAxis.BATCH or (axis is SeriesAxis.TIME and math.isfinite(sum(places)))
    if whole and placed and window.start is None and window.end is None:
        return None
    start = -math.inf if window.start is None else window.start
    end = math.inf if window.end is None else window.end
    return [
        i
        for i, (step, x) in enumerate(zip(steps, places, strict=True))
        if low <= step <= high and step < beyond and _is_number(x) and math.isfinite(x) and start <= x <= end
    ]


def _numbers(chunk: Chunk, name: str, places: Sequence[Any], rows: list[int] | None) -> Points | None:
    """Text, booleans and nested values are no points."""
    column = chunk.column(name)
    if column is None:
        return None
    if rows is None and column.rows is None and isinstance(column.values, array):
        return Points(name, places, column.values)
    dense = column.dense(chunk.n)
    kept = [i for i in (range(chunk.n) if rows is None else rows) if _is_number(dense[i])]
    return Points(name, [places[i] for i in kept], [float(dense[i]) for i in kept])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
