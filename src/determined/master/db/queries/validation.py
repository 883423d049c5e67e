"""Validations that still count, by trial and step, for checkpoints, histories and the garbage collector."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import BigInteger, Connection, Nullable, Select, select, type_coerce

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.metric_chunk import Chunk
from determined.master.db.queries.batching import batches
from determined.master.db.queries.metric_live import Watermark, Watermarks, live_chunks
from determined.master.db.schema import experiments, metric_chunks, metric_watermarks, trials

GROUP = "validation"

Place = tuple[int, int]  # trial, steps
Values = dict[Place, tuple[float, float]]  # value, time


@dataclass(frozen=True, slots=True)
class Validation:
    steps: int
    time: float  # seconds since the epoch
    metrics: JsonObject


class _ChunkRange(msgspec.Struct, frozen=True):
    id: int
    trial_id: int
    run_id: int
    first_step: int
    last_step: int


class _TrialValidations(msgspec.Struct, frozen=True):
    """Latest and best validation of a trial; times in microseconds: datetimes would cost more than the rest."""

    id: int
    searcher_metric: str | None
    latest_step: int | None
    latest_value: float | None
    latest_time: int | None
    best_step: int | None
    best_value: float | None
    best_time: int | None


def of_trial(conn: Connection, trial_id: int, group: str = GROUP) -> list[Validation]:
    """List reports of one group in the order of steps."""
    validations: list[Validation] = []
    for part in live_chunks(conn, trial_id, group):
        rows = part.chunk.rows()
        validations.extend(Validation(rows[i].step, rows[i].time, rows[i].metrics) for i in part.live())
    return sorted(validations, key=lambda v: v.steps)


def at_places(conn: Connection, places: Iterable[Place], group: str = GROUP) -> dict[Place, Validation]:
    """Read the report at exactly these steps of these trials, where there is one. Three queries per 500 trials."""
    wanted = _by_trial(places)
    validations: dict[Place, Validation] = {}
    for some in batches(list(wanted)):
        marks = _watermarks(conn, some)
        chunks = {row.id: row for row in _chunk_ranges(conn, some, group) if _touches(row, wanted)}
        for ids in batches(list(chunks)):
            query = select(metric_chunks.c.id, metric_chunks.c.data).where(metric_chunks.c.id.in_(ids))
            for chunk_id, data in conn.execute(query):
                row = chunks[chunk_id]
                cutoff = marks[row.trial_id].cutoff(row.run_id, group)
                validations.update(_pick(row.trial_id, Chunk(data), cutoff, wanted[row.trial_id]))
    return validations


def searcher_values(conn: Connection, places: Iterable[Place]) -> Values:
    """Read the searcher metric of each trial where a validation lies at exactly these steps.

    The latest and best validations are on the trial's row, and most checkpoints lie there; only the others cost a look
    into the stored chunks.
    """
    wanted = _by_trial(places)
    names: dict[int, str] = {}
    values: Values = {}
    for some in batches(list(wanted)):
        for row in fetch.rows(conn, _trial_validations(some), _TrialValidations):
            if row.searcher_metric is not None and row.latest_step is not None:
                names[row.id] = row.searcher_metric
                values.update(_of_row(row, wanted[row.id]))
    missing = [(t, s) for t in names for s in wanted[t] if (t, s) not in values]
    for place, report in at_places(conn, missing).items():
        _take(values, place, report, names[place[0]])
    return values


def metric_values(conn: Connection, places: Iterable[Place], metric: str) -> Values:
    """Read any validation metric, by name."""
    values: Values = {}
    for place, report in at_places(conn, places).items():
        _take(values, place, report, metric)
    return values


def history(conn: Connection, trial_ids: Sequence[int], metric: str) -> list[tuple[float, int, float]]:
    """List (time, trial, value) of every validation of `metric`, in the order in which they came."""
    entries: list[tuple[float, int, float]] = []
    table = metric_chunks.c
    for some in batches(trial_ids):
        marks = _watermarks(conn, some)
        query = select(table.trial_id, table.run_id, table.data)
        for trial_id, run_id, data in conn.execute(query.where(table.trial_id.in_(some), table.group == GROUP)):
            cutoff = marks[trial_id].cutoff(run_id, GROUP)
            entries.extend((time, trial_id, value) for time, value in _values(Chunk(data), metric, cutoff))
    return sorted(entries)


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
    watermarks: defaultdict[int, Watermarks] = defaultdict(lambda: Watermarks([]))
    for trial_id, run_id, series, first, last, tail in conn.execute(query):
        watermarks[trial_id].rows.append(Watermark(run_id, series, first, last, tail))
    return watermarks


def _chunk_ranges(conn: Connection, trial_ids: Sequence[int], group: str) -> list[_ChunkRange]:
    table = metric_chunks.c
    query = (
        select(table.id, table.trial_id, table.run_id, table.first_step, table.last_step)
        .where(table.trial_id.in_(trial_ids), table.group == group)
        .order_by(table.run_id, table.id)
    )
    return fetch.rows(conn, query, _ChunkRange)


def _touches(row: _ChunkRange, wanted: dict[int, set[int]]) -> bool:
    return any(row.first_step <= steps <= row.last_step for steps in wanted[row.trial_id])


def _pick(trial_id: int, chunk: Chunk, cutoff: int | None, wanted: set[int]) -> dict[Place, Validation]:
    hits = [i for i, s in enumerate(chunk.steps) if s in wanted and (cutoff is None or s < cutoff)]
    if not hits:
        return {}
    rows = chunk.rows()
    return {(trial_id, rows[i].step): Validation(rows[i].step, rows[i].time, rows[i].metrics) for i in hits}


def _values(chunk: Chunk, metric: str, cutoff: int | None) -> Iterator[tuple[float, float]]:
    """Read (time, value) of one metric, decoding only its column."""
    column = chunk.column(metric)
    if column is None:
        return
    for step, time, raw in zip(chunk.steps, chunk.times, column.dense(chunk.n), strict=True):
        value = _number(raw)
        if value is not None and (cutoff is None or step < cutoff):
            yield time, value


def _trial_validations(
    ids: Sequence[int],
) -> Select[int, str | None, int | None, float | None, int | None, int | None, float | None, int | None]:
    latest, best = trials.c.latest_validation_time, trials.c.best_validation_time
    return (
        select(
            trials.c.id,
            experiments.c.searcher_metric,
            trials.c.latest_validation_step.label("latest_step"),
            trials.c.latest_validation_value.label("latest_value"),
            Nullable(type_coerce(latest, BigInteger).label("latest_time")),
            trials.c.best_validation_step.label("best_step"),
            trials.c.best_validation_value.label("best_value"),
            Nullable(type_coerce(best, BigInteger).label("best_time")),
        )
        .join(experiments, experiments.c.id == trials.c.experiment_id)
        .where(trials.c.id.in_(ids))
    )


def _of_row(row: _TrialValidations, wanted: set[int]) -> Values:
    values: Values = {}
    latest = row.latest_step, row.latest_value, row.latest_time
    best = row.best_step, row.best_value, row.best_time
    for steps, value, micros in (latest, best):
        if steps is not None and steps in wanted and value is not None and micros is not None:
            values[row.id, steps] = (value, micros / 1e6)
    return values


def _take(values: Values, place: Place, report: Validation, metric: str) -> None:
    value = _number(report.metrics.get(metric))
    if value is not None:
        values[place] = (value, report.time)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value)
