"""Metrics over HTTP: reports of older harnesses in, whole reports and charts of single metrics out."""

import math
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.errors import InvalidArgument, NotFound
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.queries import metric as queries
from determined.master.db.queries import metric_series, metric_trial
from determined.master.db.queries.metric_series import ChunkPlace, StoredReport
from determined.master.db.queries.metric_write import VALIDATION
from determined.master.lifecycle import search, webhooks
from determined.master.services.downsample import bucket, is_number, spans
from determined.master.services.own_trial import check_reporter
from determined.wire.codec import plain, rfc3339
from determined.wire.metric import MetricSeriesResponse, MetricsReport
from determined.wire.metric_query import GetMetricSeries
from determined.wire.report import MetricReport
from determined.wire.userdata import as_float

_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_INT64 = 2**63


async def report(
    ctx: MasterContext, caller: Caller, trial_id: int, run_id: int | None, given: Sequence[MetricReport]
) -> None:
    """Store reports, all or none. `run_id` None stands for the current run.

    Raises:
        InvalidArgument: a stale run or a report that cannot be used. Conflict: a value differs from a stored one.
    """
    now = ctx.clock.now()
    ready = [MetricReport(r.group, r.steps, from_wire(r.metrics), r.time, from_wire(r.batch_metrics)) for r in given]
    validations = [r for r in ready if r.group == VALIDATION]

    def write(conn: Connection) -> int:
        who = metric_trial.reporter(conn, trial_id)
        check_reporter(conn, caller, trial_id)
        if run_id is not None and run_id != who.run_id:
            raise InvalidArgument(f"invalid run id {run_id}: trial {trial_id} is at run {who.run_id}")
        for rejected in queries.append_reports(conn, who, ready).rejected:
            raise rejected.error
        for validation in validations:
            search.validation_reported(conn, now, trial_id, validation.metrics, validation.steps)
        webhooks.metrics_reported(conn, now, trial_id, ready, is_unmanaged=caller.kind != "task")
        return who.experiment_id

    experiment_id = await ctx.db.write(write)
    topics = [f"metrics:{trial_id}", f"trial:{trial_id}", f"experiment:{experiment_id}"]
    ctx.bus.publish(*topics, *(["schedule"] if validations else []))


def from_wire(value: Any) -> Any:
    """JSON has no NaN: the client sends these three words. Integers that no column can hold become floats."""
    if isinstance(value, str):
        return _SPECIAL.get(value, value)
    if isinstance(value, dict):
        return {k: from_wire(v) for k, v in value.items()}
    if isinstance(value, list):
        return [from_wire(v) for v in value]
    if isinstance(value, int) and not isinstance(value, bool) and not -_INT64 <= value < _INT64:
        return as_float(value)
    return value


async def reports(
    ctx: MasterContext, trial_ids: Sequence[int], group: str | None
) -> AsyncIterator[list[MetricsReport]]:
    """Yield all reports that count, chunk by chunk. Raises NotFound before the stream starts."""
    await require_trials(ctx, trial_ids)
    return _reports(ctx, trial_ids, group)


async def require_trials(ctx: MasterContext, trial_ids: Sequence[int]) -> None:
    if not trial_ids:
        raise InvalidArgument("name at least one trial: trialIds is empty")
    known = await ctx.db.read(lambda conn: metric_series.existing_trials(conn, trial_ids))
    for trial_id in trial_ids:
        if trial_id not in known:
            raise NotFound(f"trial {trial_id} not found")


def reports_of(conn: Connection, trial_ids: Sequence[int], group: str | None) -> list[MetricsReport]:
    """Return all reports of some trials that count; of all groups where none is named."""
    reports: list[MetricsReport] = []
    for trial_id in trial_ids:
        for place in metric_series.report_places(conn, trial_id, group):
            reports += [_report(trial_id, r) for r in metric_series.reports(conn, place)]
    return reports


async def series(ctx: MasterContext, trial_id: int, params: GetMetricSeries) -> MetricSeriesResponse:
    """Return a metric as columns, at most `points` long: the last value of each bucket with the extremes around it."""
    await require_trials(ctx, [trial_id])
    return await ctx.db.read(lambda conn: _series(conn, trial_id, params))


def moment(seconds: float) -> str:
    """Return a stored time for the wire; a broken clock must not break a stream."""
    try:
        return rfc3339(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return rfc3339(datetime.fromtimestamp(0, UTC))


async def _reports(
    ctx: MasterContext, trial_ids: Sequence[int], group: str | None
) -> AsyncIterator[list[MetricsReport]]:
    for trial_id in trial_ids:
        for place in await ctx.db.read(report_places(trial_id, group)):
            page = await ctx.db.read(_page(trial_id, place))
            if page:
                yield page


def report_places(trial_id: int, group: str | None) -> Callable[[Connection], list[ChunkPlace]]:
    return lambda conn: metric_series.report_places(conn, trial_id, group)


def _page(trial_id: int, place: ChunkPlace) -> Callable[[Connection], list[MetricsReport]]:
    return lambda conn: [_report(trial_id, r) for r in metric_series.reports(conn, place)]


def _report(trial_id: int, stored: StoredReport) -> MetricsReport:
    row = stored.row
    key = "validation_metrics" if stored.group == VALIDATION else "avg_metrics"
    metrics: JsonObject = {key: plain(row.metrics)}
    if row.batch_metrics is not None:
        metrics["batch_metrics"] = plain(row.batch_metrics)
    return MetricsReport(
        archived=False,
        end_time=moment(row.time),
        group=stored.group,
        id=stored.id,
        metrics=metrics,
        total_batches=row.step,
        trial_id=trial_id,
        trial_run_id=stored.run_id,
    )


def _series(conn: Connection, trial_id: int, params: GetMetricSeries) -> MetricSeriesResponse:
    series = metric_series.read(conn, trial_id, params.group, [params.name], first=params.first, last=params.last)
    values = series.columns[params.name]
    numbers = [v if is_number(v) else None for v in values] if set(map(type, values)) - {float, int} else values
    if None in numbers:
        kept = [i for i, v in enumerate(numbers) if v is not None]
        series.steps, series.times = [series.steps[i] for i in kept], [series.times[i] for i in kept]
        numbers = [numbers[i] for i in kept]
    parts = [b for s in spans(len(numbers), params.points) if (b := bucket(numbers, *s)) is not None]
    return MetricSeriesResponse(
        trial_id=trial_id,
        group=params.group,
        name=params.name,
        exact=len(numbers) <= params.points,
        total=len(numbers),
        steps=[series.steps[b.at] for b in parts],
        times=[round(series.times[b.at], 3) for b in parts],
        last=[plain(b.last) for b in parts],
        min=[plain(b.min) for b in parts],
        max=[plain(b.max) for b in parts],
    )
