"""Charts of long series: every metric as at most so many buckets, exact where there are few points."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlalchemy import Connection

from determined.errors import InvalidArgument
from determined.master.context import MasterContext
from determined.master.db.queries import metric_points, metric_position
from determined.master.db.queries.metric_points import Window
from determined.master.db.queries.metric_position import Position
from determined.master.services.buckets import Buckets
from determined.master.services.metric import require_trials
from determined.wire.codec import plain
from determined.wire.metric import BucketedTrial, BucketedTrialsResponse, MetricBuckets, SeriesAxis, SeriesPosition

_MOST_DIGITS = 19
_MOST_BUCKETS = 1_000_000  # of one answer, which then has about 50 MB


@dataclass(frozen=True, slots=True)
class BucketQuery:
    trial_ids: Sequence[int]
    metrics: Sequence[tuple[str, str]]  # (group, name)
    points: int
    axis: SeriesAxis = SeriesAxis.BATCH
    first: int | None = None  # batches, both included
    last: int | None = None
    start: float | None = None  # values of the axis, both included
    end: float | None = None
    since: Mapping[tuple[int, str], Position] = field(default_factory=dict)  # by trial and group

    @property
    def window(self) -> Window:
        return Window(self.first, self.last, self.start, self.end)


def positions_of(texts: Sequence[str]) -> dict[tuple[int, str], Position]:
    """Parse positions. Raises InvalidArgument for what is not `<trial>/<group>/<token>`."""
    return dict(map(_position, texts))


async def bucketed(ctx: MasterContext, query: BucketQuery) -> BucketedTrialsResponse:
    """Return the buckets, trial by trial, so that other readers get their turn. Raises NotFound, InvalidArgument."""
    await require_trials(ctx, query.trial_ids)
    bucketed_trials: list[BucketedTrial] = []
    total = 0
    for trial_id in dict.fromkeys(query.trial_ids):
        bucketed_trials.append(await ctx.db.read(partial(_trial, trial_id, query)))
        total += sum(len(metric.count) for metric in bucketed_trials[-1].metrics)
        if total > _MOST_BUCKETS:
            raise InvalidArgument(
                f"more than {_MOST_BUCKETS} points at once; name fewer trials or metrics, or lower maxDatapoints"
            )
    return BucketedTrialsResponse(trials=bucketed_trials)


def _trial(trial_id: int, query: BucketQuery, conn: Connection) -> BucketedTrial:
    by_group: dict[str, list[str]] = {}
    for group, name in dict.fromkeys(query.metrics):
        by_group.setdefault(group, []).append(name)
    metrics: list[MetricBuckets] = []
    positions: list[SeriesPosition] = []
    for group, names in by_group.items():
        # before the points: what is committed in between is read again by whoever comes back with it
        now, known = metric_position.current(conn, trial_id, group), query.since.get((trial_id, group))
        continues = known is not None and metric_position.goes_on(conn, trial_id, group, known, now)
        part = replace(query, first=_later(query.first, known.step)) if known is not None and continues else query
        buckets = _streamed(conn, trial_id, group, names, part)
        metrics += [_to_wire(group, name, buckets[name]) for name in names if name in buckets]
        positions.append(SeriesPosition(group=group, token=str(now), continues=continues))
    return BucketedTrial(trial_id=trial_id, metrics=metrics, positions=positions)


def _position(text: str) -> tuple[tuple[int, str], Position]:
    trial, _, rest = text.partition("/")
    group, _, token = rest.rpartition("/")
    position = metric_position.parse(token)
    if not trial.isdecimal() or len(trial) > _MOST_DIGITS or not group or position is None:
        raise InvalidArgument(f"since={text!r} is not `<trial>/<group>/<token>` as an earlier answer gave it")
    return (int(trial), group), position


def _later(first: int | None, known: int) -> int:
    """Return the reports from the step read last on: another metric of it may have come."""
    return max(known, 0 if first is None else first)


def _streamed(
    conn: Connection, trial_id: int, group: str, names: Sequence[str], query: BucketQuery
) -> dict[str, Buckets]:
    """Read buckets in one pass over chunks; a series that steps back (late reports, a set clock) is sorted first."""
    buckets: dict[str, Buckets] = {}
    reached: dict[str, float] = {}
    for part in metric_points.parts(conn, trial_id, group, names, query.axis, query.window):
        if not metric_points.ascending(part.x, reached.get(part.name, -math.inf)):
            return _sorted(conn, trial_id, group, names, query)
        reached[part.name] = part.x[-1]
        buckets.setdefault(part.name, Buckets(query.points)).add(part.x, part.y)
    return buckets


def _sorted(
    conn: Connection, trial_id: int, group: str, names: Sequence[str], query: BucketQuery
) -> dict[str, Buckets]:
    points: dict[str, list[tuple[float, float]]] = {}
    for part in metric_points.parts(conn, trial_id, group, names, query.axis, query.window):
        points.setdefault(part.name, []).extend(zip(part.x, part.y, strict=True))
    buckets: dict[str, Buckets] = {}
    for name, pairs in points.items():
        pairs.sort(key=lambda pair: pair[0])
        buckets[name] = Buckets(query.points)
        buckets[name].add([x for x, _ in pairs], [y for _, y in pairs])
    return buckets


def _to_wire(group: str, name: str, buckets: Buckets) -> MetricBuckets:
    return MetricBuckets(
        group=group,
        name=name,
        x=plain(buckets.x),
        last=plain(buckets.last),
        min=plain(buckets.min),
        max=plain(buckets.max),
        count=buckets.count,
        exact=buckets.exact,
        total=sum(buckets.count),
        not_finite=buckets.not_finite if any(buckets.not_finite) else [],
    )
