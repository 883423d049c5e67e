"""Streams of an experiment's metrics while it runs: names, batches, snapshots, samples, period by period."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from determined.errors import InvalidArgument, NotFound
from determined.master.bus import Listener
from determined.master.context import MasterContext
from determined.master.db.queries import metric_series
from determined.master.db.queries.metric_series import MetricTrial, Series
from determined.master.db.queries.metric_write import TRAINING, VALIDATION
from determined.master.lifecycle.states import TERMINAL
from determined.master.services.downsample import is_number
from determined.master.services.metric_compare import data_points
from determined.wire.codec import plain
from determined.wire.metric import ExpMetricNamesResponse, MetricBatchesResponse, MetricIdentifier
from determined.wire.trial import (
    TrialsSampleResponse,
    TrialsSampleResponseTrial,
    TrialsSnapshotResponse,
    TrialsSnapshotResponseTrial,
)

_BREATH_SECONDS = 0.1  # a busy experiment gives hints all the time
_LOOK_SECONDS = 1.0  # how often a stream looks whether its experiment has ended
DEFAULT_TRIALS = 25

Reader = Callable[[Connection], object]


@dataclass(frozen=True, slots=True)
class MetricKey:
    experiment_id: int
    group: str
    name: str


@dataclass(frozen=True, slots=True)
class SampleQuery:
    key: MetricKey
    trials: int
    points: int
    first: int | None = None
    last: int | None = None


def metric_key(experiment_id: int, name: str, group: str | None, metric_type: str | None) -> MetricKey:
    known = {"METRIC_TYPE_TRAINING": TRAINING, "METRIC_TYPE_VALIDATION": VALIDATION}
    chosen = group or known.get(metric_type or "")
    if not chosen or not name:
        raise InvalidArgument("name a metric: metricName and group (or metricType) are needed")
    return MetricKey(experiment_id, chosen, name)


async def names(ctx: MasterContext, experiment_ids: Sequence[int], period: int) -> AsyncIterator[object]:
    """Stream the names reported so far, then those that are new."""
    known: set[tuple[str, str]] = set()

    def look(conn: Connection) -> ExpMetricNamesResponse | None:
        first = not known
        new = metric_series.names(conn, experiment_ids) - known
        known.update(new)
        if not new and not first:
            return None
        return ExpMetricNamesResponse(
            metric_names=[MetricIdentifier(group=group, name=name) for group, name in sorted(new)],
            searcher_metrics=metric_series.searcher_metrics(conn, experiment_ids),
            training_metrics=sorted(name for group, name in new if group == TRAINING),
            validation_metrics=sorted(name for group, name in new if group == VALIDATION),
        )

    return await _open(ctx, experiment_ids, period, look)


async def batches(ctx: MasterContext, key: MetricKey, period: int) -> AsyncIterator[object]:
    """Stream the steps at which any trial has reported the metric, then the new ones."""
    known: set[int] = set()

    def look(conn: Connection) -> MetricBatchesResponse | None:
        first = not known
        new = _steps(conn, key) - known
        known.update(new)
        return MetricBatchesResponse(batches=sorted(new)) if new or first else None

    return await _open(ctx, [key.experiment_id], period, look)


async def snapshot(ctx: MasterContext, key: MetricKey, at: int, margin: int, period: int) -> AsyncIterator[object]:
    """Stream the metric of every trial at about one step; sent again when it has changed."""
    sent: list[TrialsSnapshotResponse] = []

    def look(conn: Connection) -> TrialsSnapshotResponse | None:
        answer = TrialsSnapshotResponse(trials=_snapshot(conn, key, at, margin))
        if sent and sent[-1] == answer:
            return None
        sent[:] = [answer]
        return answer

    return await _open(ctx, [key.experiment_id], period, look)


async def sample(ctx: MasterContext, query: SampleQuery, period: int) -> AsyncIterator[object]:
    """Stream series of the best trials, then what is new of them, and which trials came in or fell out."""
    shown: dict[int, int] = {}  # trial -> last step sent

    def look(conn: Connection) -> TrialsSampleResponse:
        best = _best(conn, query)
        ids = {trial.id for trial in best}
        promoted = [trial.id for trial in best if trial.id not in shown]
        demoted = sorted(shown.keys() - ids)
        for trial_id in demoted:
            del shown[trial_id]
        trials = [_sampled(conn, query, trial, shown) for trial in best]
        return TrialsSampleResponse(demoted_trials=demoted, promoted_trials=promoted, trials=trials)

    return await _open(ctx, [query.key.experiment_id], period, look)


async def _open(ctx: MasterContext, experiment_ids: Sequence[int], period: int, look: Reader) -> AsyncIterator[object]:
    if not experiment_ids:
        raise InvalidArgument("name at least one experiment: ids is empty")
    states = await ctx.db.read(lambda conn: metric_series.experiment_states(conn, experiment_ids))
    for experiment_id in experiment_ids:
        if experiment_id not in states:
            raise NotFound(f"experiment {experiment_id} not found")
    return _periodic(ctx, experiment_ids, period, look)


async def _periodic(
    ctx: MasterContext, experiment_ids: Sequence[int], period: int, look: Reader
) -> AsyncIterator[object]:
    def run(conn: Connection) -> tuple[bool, object]:
        return _over(conn, experiment_ids), look(conn)

    topics = [f"experiment:{i}" for i in experiment_ids]
    async with ctx.bus.listen(*topics) as listener:
        while True:
            over, item = await ctx.db.read(run)
            if item is not None:
                yield item
            if over or ctx.bus.closed:
                return
            await _wait(ctx, listener, experiment_ids, period)


async def _wait(ctx: MasterContext, listener: Listener, experiment_ids: Sequence[int], period: int) -> None:
    """Wait a period, or less when the experiments end in it."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + max(1, period)
    while loop.time() < deadline:
        await listener.wait(min(_LOOK_SECONDS, max(0.0, deadline - loop.time())))
        if await _finished(ctx, experiment_ids):
            return
        await asyncio.sleep(_BREATH_SECONDS)


async def _finished(ctx: MasterContext, experiment_ids: Sequence[int]) -> bool:
    return ctx.bus.closed or await ctx.db.read(lambda conn: _over(conn, experiment_ids))


def _over(conn: Connection, experiment_ids: Sequence[int]) -> bool:
    states = metric_series.experiment_states(conn, experiment_ids)
    return all(state in TERMINAL for state in states.values())


def _steps(conn: Connection, key: MetricKey) -> set[int]:
    steps: set[int] = set()
    for trial in metric_series.trials_with(conn, key.experiment_id, key.group, key.name):
        series = metric_series.read(conn, trial.id, key.group, [key.name])
        values = series.columns[key.name]
        steps.update(step for step, value in zip(series.steps, values, strict=True) if value is not None)
    return steps


def _snapshot(conn: Connection, key: MetricKey, at: int, margin: int) -> list[TrialsSnapshotResponseTrial]:
    out: list[TrialsSnapshotResponseTrial] = []
    for trial in metric_series.trials_with(conn, key.experiment_id, key.group, key.name):
        first, last = at - margin, at + margin
        series = metric_series.read(conn, trial.id, key.group, [key.name], first=first, last=last)
        place = _closest(series, key.name, at)
        value = series.columns[key.name][place] if place is not None else None
        if place is not None and is_number(value):
            out.append(
                TrialsSnapshotResponseTrial(
                    trial_id=trial.id,
                    hparams=plain(trial.hparams),
                    metric=float(value),
                    batches_processed=series.steps[place],
                )
            )
    return out


def _closest(series: Series, name: str, at: int) -> int | None:
    numbers = [i for i, value in enumerate(series.columns[name]) if is_number(value) and math.isfinite(value)]
    return min(numbers, key=lambda i: abs(series.steps[i] - at), default=None)


def _best(conn: Connection, query: SampleQuery) -> list[MetricTrial]:
    key = query.key
    measured_trials = metric_series.trials_with(conn, key.experiment_id, key.group, key.name)
    sign = 1 if metric_series.smaller_is_better(conn, key.experiment_id) else -1
    ranked = sorted(measured_trials, key=lambda t: (t.best_value is None, sign * (t.best_value or 0.0), t.id))
    return ranked[: query.trials]


def _sampled(
    conn: Connection, query: SampleQuery, trial: MetricTrial, shown: dict[int, int]
) -> TrialsSampleResponseTrial:
    key = query.key
    first = max(shown.get(trial.id, -1) + 1, query.first or 0)
    series = metric_series.read(conn, trial.id, key.group, [key.name, "epoch"], first=first, last=query.last)
    if series.steps:
        shown[trial.id] = series.steps[-1]
    else:
        shown.setdefault(trial.id, -1)
    data = data_points(series, [key.name], query.points)
    return TrialsSampleResponseTrial(trial_id=trial.id, hparams=plain(trial.hparams), data=data)
