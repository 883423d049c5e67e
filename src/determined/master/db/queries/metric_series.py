"""Metrics read back: series of single metrics, whole reports page by page, and which names exist."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from operator import gt
from typing import TypeVar

import msgspec
from sqlalchemy import Connection, select

from determined._json import JsonObject, JsonValue
from determined.master.db import fetch
from determined.master.db.metric_chunk import MAX_ROWS, Chunk, Row
from determined.master.db.queries.metric_live import LiveChunk, live_chunks, watermarks
from determined.master.db.schema import experiments, metric_chunks, metric_summaries, trials

T = TypeVar("T")


@dataclass(slots=True)
class Series:
    """Reports of one trial and group in the order of steps; a column holds None where a report lacks the metric."""

    steps: list[int]
    times: list[float]
    columns: dict[str, list[JsonValue]]


@dataclass(frozen=True, slots=True)
class StoredReport:
    id: int
    run_id: int
    group: str
    row: Row


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """Place of a chunk of live reports; `cutoff` as in metric_live."""

    id: int
    run_id: int
    group: str
    cutoff: int | None


class MetricTrial(msgspec.Struct, frozen=True):
    """A trial as metric streams read it."""

    id: int
    experiment_id: int
    hparams: JsonObject
    best_value: float | None


def read(
    conn: Connection,
    trial_id: int,
    group: str,
    names: Sequence[str],
    *,
    first: int | None = None,
    last: int | None = None,
) -> Series:
    """Read the named columns between two steps (both included). Only the asked columns of a chunk are decoded."""
    out = Series([], [], {name: [] for name in names})
    for part in live_chunks(conn, trial_id, group, first=first, last=last):
        _extend(out, part, first, last)
    if any(map(gt, out.steps, islice(out.steps, 1, None))):
        order = sorted(range(len(out.steps)), key=out.steps.__getitem__)
        out.steps = [out.steps[i] for i in order]
        out.times = [out.times[i] for i in order]
        out.columns = {name: [values[i] for i in order] for name, values in out.columns.items()}
    return out


def report_places(conn: Connection, trial_id: int, group: str | None) -> list[ChunkPlace]:
    """List the chunks whose reports count, in the order of run and step; `reports` reads them one by one."""
    marks = watermarks(conn, trial_id)
    table = metric_chunks.c
    query = select(table.id, table.run_id, table.group, table.first_step).where(table.trial_id == trial_id)
    if group is not None:
        query = query.where(table.group == group)
    places = []
    ordered = query.order_by(table.run_id, table.first_step, table.id)
    for chunk_id, run_id, name, first_step in conn.execute(ordered):
        cutoff = marks.cutoff(run_id, name)
        if cutoff is None or first_step < cutoff:
            places.append(ChunkPlace(chunk_id, run_id, name, cutoff))
    return places


def reports(conn: Connection, place: ChunkPlace) -> list[StoredReport]:
    """Read the reports of one chunk that count, by step; none when it has been deleted meanwhile."""
    data = conn.execute(select(metric_chunks.c.data).where(metric_chunks.c.id == place.id)).scalar_one_or_none()
    if data is None:
        return []
    rows = Chunk(data).rows()
    # a chunk holds at most so many reports, so ids of reports in different chunks never meet
    stored = [StoredReport(place.id * MAX_ROWS + i, place.run_id, place.group, row) for i, row in enumerate(rows)]
    kept = [r for r in stored if place.cutoff is None or r.row.step < place.cutoff]
    return sorted(kept, key=lambda r: r.row.step)


def names(conn: Connection, experiment_ids: Sequence[int]) -> set[tuple[str, str]]:
    """Return (group, name) of every metric that trials of these experiments have reported."""
    query = (
        select(metric_summaries.c.group, metric_summaries.c.name)
        .join(trials, trials.c.id == metric_summaries.c.trial_id)
        .where(trials.c.experiment_id.in_(experiment_ids))
        .distinct()
    )
    return {(group, name) for group, name in conn.execute(query)}


def searcher_metrics(conn: Connection, experiment_ids: Sequence[int]) -> list[str]:
    query = select(experiments.c.searcher_metric).where(experiments.c.id.in_(experiment_ids))
    return sorted({name for name in conn.execute(query).scalars() if name})


def experiment_states(conn: Connection, experiment_ids: Sequence[int]) -> dict[int, str]:
    query = select(experiments.c.id, experiments.c.state).where(experiments.c.id.in_(experiment_ids))
    return dict(conn.execute(query).all())


def trials_with(conn: Connection, experiment_id: int, group: str, name: str) -> list[MetricTrial]:
    """List trials of an experiment that have reported this metric."""
    query = (
        select(
            trials.c.id, trials.c.experiment_id, trials.c.hparams, trials.c.best_validation_value.label("best_value")
        )
        .join(metric_summaries, metric_summaries.c.trial_id == trials.c.id)
        .where(
            trials.c.experiment_id == experiment_id,
            metric_summaries.c.group == group,
            metric_summaries.c.name == name,
        )
        .order_by(trials.c.id)
    )
    return fetch.rows(conn, query, MetricTrial)


def smaller_is_better(conn: Connection, experiment_id: int) -> bool:
    query = select(experiments.c.smaller_is_better).where(experiments.c.id == experiment_id)
    return conn.execute(query).scalar_one()


def groups(conn: Connection, trial_id: int) -> list[str]:
    query = select(metric_summaries.c.group).where(metric_summaries.c.trial_id == trial_id).distinct()
    return sorted(conn.execute(query).scalars())


def names_of_trial(conn: Connection, trial_id: int, group: str) -> list[str]:
    table = metric_summaries.c
    query = select(table.name).where(table.trial_id == trial_id, table.group == group)
    return sorted(conn.execute(query).scalars())


def existing_trials(conn: Connection, trial_ids: Sequence[int]) -> set[int]:
    return set(conn.execute(select(trials.c.id).where(trials.c.id.in_(trial_ids))).scalars())


def trial_ended(conn: Connection, trial_id: int) -> bool:
    return conn.execute(select(trials.c.end_time).where(trials.c.id == trial_id)).scalar_one_or_none() is not None


def _extend(out: Series, part: LiveChunk, first: int | None, last: int | None) -> None:
    chunk = part.chunk
    steps = chunk.steps
    low, high = first if first is not None else -math.inf, last if last is not None else math.inf
    end = part.cutoff if part.cutoff is not None else math.inf
    wanted: list[int] | None = None
    if not (low <= min(steps) and max(steps) <= high and max(steps) < end):
        wanted = [i for i, step in enumerate(steps) if low <= step <= high and step < end]
    out.steps.extend(_picked(steps, wanted))
    out.times.extend(_picked(chunk.times, wanted))
    for name, values in out.columns.items():
        column = chunk.column(name)
        values.extend(_picked([None] * chunk.n if column is None else column.dense(chunk.n), wanted))


def _picked(values: Sequence[T], wanted: list[int] | None) -> Sequence[T]:
    return values if wanted is None else [values[i] for i in wanted]
