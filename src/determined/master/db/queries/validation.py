"""Validations that still count, by trial and step: what checkpoints, histories and the garbage collector ask about."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Connection, Select, select, type_coerce

from determined.master.db.metric_chunk import Chunk
from determined.master.db.queries.batching import AnyRow, batches
from determined.master.db.queries.metric_live import Watermark, Watermarks, live_chunks
from determined.master.db.schema import experiments, metric_chunks, metric_watermarks, trials

GROUP = "validation"

Place = tuple[int, int]  # trial, steps
Values = dict[Place, tuple[float, float]]  # value, time


@dataclass(frozen=True, slots=True)
class Validation:
    steps: int
    time: float  # seconds since the epoch
    metrics: dict[str, Any]


def of_trial(conn: Connection, trial_id: int, group: str = GROUP) -> list[Validation]:
    """Reports of one group in the order of steps."""
    found: list[Validation] = []
    for part in live_chunks(conn, trial_id, group):
        rows = part.chunk.rows()
        found.extend(Validation(rows[i].step, rows[i].time, rows[i].metrics) for i in part.live())
    return sorted(found, key=lambda v: v.steps)


def at_places(conn: Connection, places: Iterable[Place], group: str = GROUP) -> dict[Place, Validation]:
    """The report at exactly these steps of these trials, where there is one. Three queries per 500 trials."""
    wanted = _by_trial(places)
    found: dict[Place, Validation] = {}
    for some in batches(list(wanted)):
        marks = _watermarks(conn, some)
        chunks = {row.id: row for row in conn.execute(_chunk_ranges(some, group)) if _touches(row, wanted)}
        for ids in batches(list(chunks)):
            query = select(metric_chunks.c.id, metric_chunks.c.data).where(metric_chunks.c.id.in_(ids))
            for chunk_id, data in conn.execute(query):
                row = chunks[chunk_id]
                cutoff = marks[row.trial_id].cutoff(row.run_id, group)
                found.update(_pick(row.trial_id, Chunk(data), cutoff, wanted[row.trial_id]))
    return found


def searcher_values(conn: Connection, places: Iterable[Place]) -> Values:
    """The searcher metric of each trial where a validation lies at exactly these steps.

    The latest and best validations are on the trial's row, and most checkpoints lie there; only the others cost a look
    into the stored chunks.
    """
    wanted = _by_trial(places)
    names: dict[int, str] = {}
    found: Values = {}
    for some in batches(list(wanted)):
        for row in conn.execute(_summary_columns(some)):
            if row.searcher_metric is not None and row.latest_validation_step is not None:
                names[row.id] = row.searcher_metric
                found.update(_of_row(row, wanted[row.id]))
    missing = [(t, s) for t in names for s in wanted[t] if (t, s) not in found]
    for place, report in at_places(conn, missing).items():
        _take(found, place, report, names[place[0]])
    return found


def metric_values(conn: Connection, places: Iterable[Place], metric: str) -> Values:
    """Any validation metric, by name."""
    found: Values = {}
    for place, report in at_places(conn, places).items():
        _take(found, place, report, metric)
    return found


def history(conn: Connection, trial_ids: Sequence[int], metric: str) -> list[tuple[float, int, float]]:
    """(time, trial, value) of every validation of `metric`, in the order in which they came."""
    found: list[tuple[float, int, float]] = []
    table = metric_chunks.c
    for some in batches(trial_ids):
        marks = _watermarks(conn, some)
        query = select(table.trial_id, table.run_id, table.data)
        for row in conn.execute(query.where(table.trial_id.in_(some), table.group == GROUP)):
            cutoff = marks[row.trial_id].cutoff(row.run_id, GROUP)
            found.extend((time, row.trial_id, value) for time, value in _values(Chunk(row.data), metric, cutoff))
    return sorted(found)


def _by_trial(places: Iterable[Place]) -> dict[int, set[int]]:
    wanted: defaultdict[int, set[int]] = defaultdict(set)
    for trial_id, steps in places:
        wanted[trial_id].add(steps)
    return wanted


def _watermarks(conn: Connection, trial_ids: Sequence[int]) -> defaultdict[int, Watermarks]:
    table = metric_watermarks.c
    query = select(table.trial_id, table.run_id, table.group, table.first_step, table.last_step, table.tail_id).where(
        table.trial_id.in_(trial_ids)
    )
    found: defaultdict[int, Watermarks] = defaultdict(lambda: Watermarks([]))
    for trial_id, run_id, series, first, last, tail in conn.execute(query):
        found[trial_id].rows.append(Watermark(run_id, series, first, last, tail))
    return found


def _chunk_ranges(trial_ids: Sequence[int], group: str) -> Select[int, int, int, int, int]:
    table = metric_chunks.c
    return (
        select(table.id, table.trial_id, table.run_id, table.first_step, table.last_step)
        .where(table.trial_id.in_(trial_ids), table.group == group)
        .order_by(table.run_id, table.id)
    )


def _touches(row: AnyRow, wanted: dict[int, set[int]]) -> bool:
    return any(row.first_step <= steps <= row.last_step for steps in wanted[row.trial_id])


def _pick(trial_id: int, chunk: Chunk, cutoff: int | None, wanted: set[int]) -> dict[Place, Validation]:
    hits = [i for i, s in enumerate(chunk.steps) if s in wanted and (cutoff is None or s < cutoff)]
    if not hits:
        return {}
    rows = chunk.rows()
    return {(trial_id, rows[i].step): Validation(rows[i].step, rows[i].time, rows[i].metrics) for i in hits}


def _values(chunk: Chunk, metric: str, cutoff: int | None) -> Iterator[tuple[float, float]]:
    """(time, value) of one metric, decoding only its column."""
    column = chunk.column(metric)
    if column is None:
        return
    for step, time, raw in zip(chunk.steps, chunk.times, column.dense(chunk.n), strict=True):
        value = _number(raw)
        if value is not None and (cutoff is None or step < cutoff):
            yield time, value


def _summary_columns(ids: Sequence[int]) -> Select[*tuple[Any, ...]]:
    return (
        select(
            trials.c.id,
            experiments.c.searcher_metric,
            trials.c.latest_validation_step,
            trials.c.latest_validation_value,
            type_coerce(trials.c.latest_validation_time, BigInteger),  # micros: datetimes would cost more than the rest
            trials.c.best_validation_step,
            trials.c.best_validation_value,
            type_coerce(trials.c.best_validation_time, BigInteger),
        )
        .join(experiments, experiments.c.id == trials.c.experiment_id)
        .where(trials.c.id.in_(ids))
    )


def _of_row(row: AnyRow, wanted: set[int]) -> Values:
    found: Values = {}
    for steps, value, micros in (row[2:5], row[5:8]):
        if steps in wanted and value is not None and micros is not None:
            found[row.id, steps] = (value, micros / 1e6)
    return found


def _take(found: Values, place: Place, report: Validation, metric: str) -> None:
    value = _number(report.metrics.get(metric))
    if value is not None:
        found[place] = (value, report.time)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value)
