"""System metrics of trials: groups gpu, cpu, memory, disk, network, nested by node (docs/architecture/reports.md)."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.master.context import MasterContext
from determined.master.db.queries import metric_series
from determined.master.db.queries.metric_series import Series
from determined.master.services.downsample import is_number
from determined.master.services.metric import moment, require_trials
from determined.wire.metric import (
    GetTrialProfilerAvailableSeriesResponse,
    GetTrialProfilerMetricsResponse,
    TrialProfilerMetricLabels,
    TrialProfilerMetricLabelsProfilerMetricType,
    TrialProfilerMetricsBatch,
)
from determined.wire.report import MetricReport

GROUPS = ("gpu", "cpu", "memory", "disk", "network")
_PER_BATCH = 500
_POLL_SECONDS = 5.0
_SYSTEM = TrialProfilerMetricLabelsProfilerMetricType.SYSTEM

Key = tuple[str, str, str]  # (metric, agent, gpu or other part)


async def available(ctx: MasterContext, trial_id: int, *, follow: bool) -> AsyncIterator[object]:
    """Yield which series there are; again when there are more."""
    await require_trials(ctx, [trial_id])
    return _available(ctx, trial_id, follow)


async def metrics(
    ctx: MasterContext, wanted: TrialProfilerMetricLabels, *, follow: bool, after: int | None = None
) -> AsyncIterator[object]:
    """Return the values of one series, in batches; with `after`, only those beyond that batch number."""
    await require_trials(ctx, [wanted.trial_id])
    return _metrics(ctx, wanted, follow, 0 if after is None else after + 1)


def as_report(labels: TrialProfilerMetricLabels, value: float, seconds: float) -> MetricReport:
    """Return a value that the profiler of an older harness posts, as our own profiler would report it."""
    inner: JsonObject = {labels.name: value}
    nested = {labels.gpu_uuid: inner} if labels.gpu_uuid else inner
    return MetricReport(_group_of(labels.name), None, {labels.agent_id or "": nested}, seconds)


def _group_of(name: str) -> str:
    head = name.split("_", 1)[0]
    return {"net": "network"}.get(head, head if head in GROUPS else "misc")


async def _available(ctx: MasterContext, trial_id: int, follow: bool) -> AsyncIterator[object]:
    known: set[Key] = set()
    sent = False
    async with ctx.bus.listen(f"metrics:{trial_id}") as listener:
        while True:
            over, found = await ctx.db.read(lambda conn: _look(conn, trial_id))
            if found - known or not sent:
                known |= found
                sent = True
                yield GetTrialProfilerAvailableSeriesResponse(labels=[_labels(trial_id, k) for k in sorted(known)])
            if over or not follow or ctx.bus.closed:
                return
            await listener.wait(_POLL_SECONDS)


async def _metrics(
    ctx: MasterContext, wanted: TrialProfilerMetricLabels, follow: bool, start: int
) -> AsyncIterator[object]:
    key: Key = (wanted.name, wanted.agent_id or "", wanted.gpu_uuid or "")
    async with ctx.bus.listen(f"metrics:{wanted.trial_id}") as listener:
        while True:
            over, points = await ctx.db.read(_points_reader(wanted.trial_id, key, start))
            for i in range(0, len(points), _PER_BATCH):
                yield _batch(wanted, points[i : i + _PER_BATCH])
            start = points[-1][0] + 1 if points else start
            if over or not follow or ctx.bus.closed:
                return
            await listener.wait(_POLL_SECONDS)


def _look(conn: Connection, trial_id: int) -> tuple[bool, set[Key]]:
    over = metric_series.trial_ended(conn, trial_id)
    keys: set[Key] = set()
    for series in _groups(conn, trial_id, 0):
        for agent, values in series.columns.items():
            for value in values:
                keys.update((name, agent, part) for name, part, _ in _leaves(value))
    return over, keys


def _points_reader(trial_id: int, key: Key, start: int) -> Any:
    name, agent, part = key

    def run(conn: Connection) -> tuple[bool, list[tuple[int, float, float]]]:
        over = metric_series.trial_ended(conn, trial_id)
        points: list[tuple[int, float, float]] = []
        for series in _groups(conn, trial_id, start):
            agents = [agent] if agent else list(series.columns)
            for i, (step, time) in enumerate(zip(series.steps, series.times, strict=True)):
                values = (leaf for a in agents for leaf in _leaves(series.columns.get(a, [None] * (i + 1))[i]))
                points += [(step, time, v) for n, p, v in values if n == name and (not part or p == part)]
        return over, sorted(points)

    return run


def _groups(conn: Connection, trial_id: int, start: int) -> Iterator[Series]:
    for group in metric_series.groups(conn, trial_id):
        if group in GROUPS:
            agents = metric_series.names_of_trial(conn, trial_id, group)
            yield metric_series.read(conn, trial_id, group, agents, first=start)


def _leaves(value: Any, part: str = "") -> Iterator[tuple[str, str, float]]:
    """(metric, part, value) of `{metric: value, part: {metric: value}}`."""
    if not isinstance(value, dict):
        return
    for name, inner in value.items():
        if is_number(inner):
            yield name, part, float(inner)
        elif not part:
            yield from _leaves(inner, name)


def _labels(trial_id: int, key: Key) -> TrialProfilerMetricLabels:
    name, agent, part = key
    return TrialProfilerMetricLabels(name=name, trial_id=trial_id, agent_id=agent, gpu_uuid=part, metric_type=_SYSTEM)


def _batch(
    wanted: TrialProfilerMetricLabels, points: Sequence[tuple[int, float, float]]
) -> GetTrialProfilerMetricsResponse:
    return GetTrialProfilerMetricsResponse(
        batch=TrialProfilerMetricsBatch(
            batches=[step for step, _, _ in points],
            labels=wanted,
            timestamps=[moment(time) for _, time, _ in points],
            values=[value for _, _, value in points],
        )
    )
