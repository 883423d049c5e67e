"""Units of metrics: ranges of (trial, step) with about the same number of rows, so that a kill costs little."""

import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from determined.master.db.queries import imported_metrics
from determined.master.importing.journal import Journal, Unit
from determined.master.importing.notes import Tally
from determined.master.importing.packed_metrics import Packed
from determined.master.importing.sources.upstream.mapping.metric import pack
from determined.master.importing.sources.upstream.reading import metrics
from determined.master.importing.sources.upstream.reading.metrics import START, MetricTable, Place
from determined.master.importing.sources.upstream.source import Source

_UNITS = 256  # per table: the part that a kill costs
_SMALLEST, _LARGEST = 2_000, 50_000  # rows
_LAST_STEP = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TrialRows:
    """Rows of a trial in a table that are not archived."""

    trial_id: int
    rows: int


def step_name(table: str) -> str:
    return f"metrics of {table}"


def store(
    source: Source, journal: Journal, table: MetricTable, counts: Sequence[TrialRows], only: Sequence[int] | None
) -> None:
    """Store the metrics of a table from where an earlier run has ended."""
    step = step_name(table.name)
    done = journal.upto(step)
    after: Place = (done[0], done[1]) if done else START
    size = unit_size(sum(trial.rows for trial in counts))
    for upto in _ends(source, table, counts, after, size):
        tally = Tally()
        chosen = None if only is None else _between(only, after[0], upto[0])
        packed = pack(metrics.read(source, table, after, upto, chosen), tally)
        checksum = f"{zlib.crc32(b''.join(chunk['data'] for chunk in packed.chunks)):08x}"
        unit = Unit(step, packed.rows, checksum, [*upto], tally)
        journal.store(unit, partial(_write, packed))
        after = upto


def _write(packed: Packed, conn: Connection) -> None:
    imported_metrics.add(conn, packed.chunks, packed.spans, packed.summaries)


def unit_size(rows: int) -> int:
    return min(max(rows // _UNITS, _SMALLEST), _LARGEST)


def _ends(source: Source, table: MetricTable, counts: Sequence[TrialRows], after: Place, size: int) -> Iterator[Place]:
    """Yield the last place of each unit."""
    collected = 0
    last: Place | None = None
    for trial in counts:
        if (trial.trial_id, _LAST_STEP) <= after:
            continue
        if trial.rows > 2 * size:
            yield from _cuts(source, table, trial.trial_id, after, size)
            last, collected = (trial.trial_id, _LAST_STEP), size
        else:
            last, collected = (trial.trial_id, _LAST_STEP), collected + trial.rows
        if collected >= size:
            yield last
            last, collected = None, 0
    if last is not None:
        yield last


def _cuts(source: Source, table: MetricTable, trial_id: int, after: Place, size: int) -> Iterator[Place]:
    for step in sorted(set(metrics.cuts(source, table, trial_id, size))):
        if (trial_id, step) > after:
            yield trial_id, step


def _between(only: Sequence[int], first: int, last: int) -> Sequence[int]:
    return only[bisect_left(only, first) : bisect_left(only, last + 1)]
