"""Stored reports that still count: a later run that starts again from an earlier step archives what lies beyond it.

Nothing is rewritten for that: a watermark per run and group holds the first step the run reported
(docs/architecture/storage.md).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from sqlalchemy import ColumnElement, Connection, bindparam, select

from determined.master.db import fetch
from determined.master.db.metric_chunk import Chunk
from determined.master.db.prepared import prepare
from determined.master.db.schema import metric_chunks, metric_watermarks

INDEXED = -1  # `first_step` of a series whose reports carry no steps: it neither archives nor is archived


_WATERMARKS = prepare(
    select(
        metric_watermarks.c.run_id,
        metric_watermarks.c.group,
        metric_watermarks.c.first_step,
        metric_watermarks.c.last_step,
        metric_watermarks.c.tail_id,
    ).where(metric_watermarks.c.trial_id == bindparam("trial"))
)


class Watermark(msgspec.Struct, frozen=True):
    """The state of one series (trial, run, group)."""

    run_id: int
    group: str
    first_step: int
    last_step: int
    tail_id: int | None

    @property
    def indexed(self) -> bool:
        return self.first_step == INDEXED


class Watermarks:
    """Watermarks of all series of one trial."""

    def __init__(self, rows: list[Watermark]) -> None:
        self.rows = rows

    def series(self, run_id: int, group: str) -> Watermark | None:
        return next((w for w in self.rows if w.run_id == run_id and w.group == group), None)

    def cutoff(self, run_id: int, group: str) -> int | None:
        """Return the step from which on reports of this series are archived; None: all of them count."""
        own = self.series(run_id, group)
        if own is not None and own.indexed:
            return None
        limits = [w.first_step + (w.group != group) for w in self.rows if w.run_id > run_id and not w.indexed]
        return min(limits, default=None)

    def is_indexed(self, group: str) -> bool:
        return any(w.indexed for w in self.rows if w.group == group)

    def last_live_step(self) -> int:
        """Return the furthest step that still counts, 0 when there is none."""
        return max((self._live_end(w) for w in self.rows if not w.indexed), default=0)

    def _live_end(self, w: Watermark) -> int:
        cutoff = self.cutoff(w.run_id, w.group)
        if cutoff is None or w.last_step < cutoff:
            return w.last_step
        return max(cutoff - 1, 0)


@dataclass(frozen=True, slots=True)
class LiveChunk:
    """A stored chunk; rows at `cutoff` or later are archived."""

    id: int
    run_id: int
    group: str
    chunk: Chunk
    cutoff: int | None

    def live(self) -> list[int]:
        """Return the indices of the rows that count."""
        steps, cutoff = self.chunk.steps, self.cutoff
        if cutoff is None:
            return list(range(self.chunk.n))
        return [i for i, step in enumerate(steps) if step < cutoff]


def watermarks(conn: Connection, trial_id: int) -> Watermarks:
    return Watermarks(fetch.rows(conn, _WATERMARKS, Watermark, {"trial": trial_id}))


def live_chunks(
    conn: Connection,
    trial_id: int,
    group: str,
    *,
    first: int | None = None,
    last: int | None = None,
) -> Iterator[LiveChunk]:
    """Read the chunks of a series with rows that count, by run and step, of which some lie in [first, last]."""
    marks = watermarks(conn, trial_id)
    table = metric_chunks.c
    conditions: list[ColumnElement[bool]] = [table.trial_id == trial_id, table.group == group]
    if first is not None:
        conditions.append(table.last_step >= first)
    if last is not None:
        conditions.append(table.first_step <= last)
    query = select(table.id, table.run_id, table.first_step, table.data).where(*conditions)
    ordered = query.order_by(table.run_id, table.first_step, table.id)
    for chunk_id, run_id, first_step, data in conn.execute(ordered):
        cutoff = marks.cutoff(run_id, group)
        if cutoff is None or first_step < cutoff:
            yield LiveChunk(chunk_id, run_id, group, Chunk(data), cutoff)
