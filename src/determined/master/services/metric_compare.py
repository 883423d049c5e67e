"""Series of several trials and metrics side by side, made short for charts (CompareTrials and trial samples)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from determined.errors import InvalidArgument
from determined.master.context import MasterContext
from determined.master.db.queries import metric_series
from determined.master.db.queries.metric_series import Series
from determined.master.db.queries.metric_write import TRAINING, VALIDATION
from determined.master.services import trial_view
from determined.master.services.downsample import Bucket, bucket, is_number, spans
from determined.master.services.metric import moment, require_trials
from determined.wire.codec import plain
from determined.wire.metric import ComparableTrial, CompareTrialsResponse, DownsampledMetrics
from determined.wire.metric_query import DEFAULT_POINTS, MAX_POINTS
from determined.wire.trial import DataPoint, MetricType

_EPOCH = "epoch"
_TYPES = {TRAINING: MetricType.TRAINING, VALIDATION: MetricType.VALIDATION}
_BATCHES, _TIME = "batches", "time"


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds of a filter; each is None where it is not given."""

    gt: float | None = None
    gte: float | None = None
    lt: float | None = None
    lte: float | None = None
    incl: frozenset[int] = frozenset()
    not_in: frozenset[int] = frozenset()

    def holds(self, value: Any) -> bool:
        if not is_number(value):
            return False
        return (
            (self.gt is None or value > self.gt)
            and (self.gte is None or value >= self.gte)
            and (self.lt is None or value < self.lt)
            and (self.lte is None or value <= self.lte)
            and (not self.incl or value in self.incl)
            and value not in self.not_in
        )


@dataclass(frozen=True, slots=True)
class TimeSeriesFilter:
    """Keep reports whose `name` (batches, time, or a metric such as epoch) lies in the range."""

    name: str
    range: Range


@dataclass(frozen=True, slots=True)
class CompareQuery:
    trial_ids: Sequence[int]
    metrics: Sequence[tuple[str, str]]  # (group, name)
    first: int | None = None
    last: int | None = None
    points: int = DEFAULT_POINTS
    filters: Sequence[TimeSeriesFilter] = field(default_factory=list)


def metric_ids(ids: Sequence[str], names: Sequence[str], group: str | None) -> list[tuple[str, str]]:
    """`metricIds` are `group.name`; `metricNames` belong to `group` or, without one, to training and validation."""
    pairs: list[tuple[str, str]] = []
    for metric_id in ids:
        head, dot, name = metric_id.partition(".")
        if not dot or not head or not name:
            raise InvalidArgument(f"metricIds={metric_id!r} is not of the form <group>.<name>, such as validation.loss")
        pairs.append((head, name))
    groups = [group] if group else [TRAINING, VALIDATION]
    return pairs + [(g, name) for name in names for g in groups]


async def compare(ctx: MasterContext, query: CompareQuery) -> CompareTrialsResponse:
    await require_trials(ctx, query.trial_ids)
    now = ctx.clock.now()
    return CompareTrialsResponse(trials=await ctx.db.read(lambda conn: _compare(conn, now, query)))


def data_points(series: Series, names: Sequence[str], points: int) -> list[DataPoint]:
    """Return at most `points` points; each stands for a bucket of reports."""
    out: list[DataPoint] = []
    epochs = series.columns.get(_EPOCH)
    for start, end in spans(len(series.steps), min(points, MAX_POINTS)):
        parts = {n: b for n in names if (b := bucket(series.columns[n], start, end)) is not None}
        if parts:
            out.append(_point(series, parts, epochs))
    return out


def _compare(conn: Connection, now: datetime, query: CompareQuery) -> list[ComparableTrial]:
    return [
        ComparableTrial(trial=trial, metrics=_metrics(conn, trial.id, query))
        for trial in trial_view.load(conn, now, list(dict.fromkeys(query.trial_ids)))
    ]


def _metrics(conn: Connection, trial_id: int, query: CompareQuery) -> list[DownsampledMetrics]:
    by_group: dict[str, list[str]] = {}
    for group, name in query.metrics:
        by_group.setdefault(group, []).append(name)
    out: list[DownsampledMetrics] = []
    for group, names in by_group.items():
        extra = {_EPOCH, *(f.name for f in query.filters)} - {_BATCHES, _TIME}
        columns = list(dict.fromkeys([*names, *extra]))
        series = metric_series.read(conn, trial_id, group, columns, first=query.first, last=query.last)
        for wanted in query.filters:
            series = _filtered(series, wanted)
        data = data_points(series, names, query.points)
        if data:
            kind = _TYPES.get(group, MetricType.UNSPECIFIED)
            out.append(DownsampledMetrics(data=data, group=group, type=kind))
    return out


def _filtered(series: Series, wanted: TimeSeriesFilter) -> Series:
    values: dict[str, Sequence[Any]] = {**series.columns, _BATCHES: series.steps, _TIME: series.times}
    kept = [i for i, value in enumerate(values[wanted.name]) if wanted.range.holds(value)]
    return Series(
        [series.steps[i] for i in kept],
        [series.times[i] for i in kept],
        {name: [column[i] for i in kept] for name, column in series.columns.items()},
    )


def _point(series: Series, parts: dict[str, Bucket], epochs: list[Any] | None) -> DataPoint:
    at = max(b.at for b in parts.values())
    epoch: Any = epochs[at] if epochs is not None else None
    point = DataPoint(
        batches=series.steps[at],
        time=moment(series.times[at]),
        epoch=float(epoch) if is_number(epoch) else None,
        values={name: plain(b.last) for name, b in parts.items()},
    )
    spread = {name: b for name, b in parts.items() if b.min != b.max}
    if spread:
        point.min = {name: plain(b.min) for name, b in spread.items()}
        point.max = {name: plain(b.max) for name, b in spread.items()}
    return point
