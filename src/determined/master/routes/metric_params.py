"""The query strings of charts: which metrics, which range of steps, how many points."""

from typing import Annotated, Any, Literal

from litestar import Request
from litestar.params import Parameter

from determined.errors import InvalidArgument
from determined.master.routes.params import MAX_INT64, parse_time
from determined.master.services.metric import MAX_POINTS, SeriesQuery
from determined.master.services.metric_buckets import BucketQuery, positions_of
from determined.master.services.metric_compare import (
    DEFAULT_POINTS,
    CompareQuery,
    Range,
    TimeSeriesFilter,
    metric_ids,
)
from determined.master.services.metric_streams import MetricKey, metric_key
from determined.wire.metric import SeriesAxis
from determined.wire.trial import MetricType

_FILTER = "timeSeriesFilter."
_BOUNDS = ("gt", "gte", "lt", "lte")


async def read_metric_key(
    experiment_id: int,
    name: Annotated[str, Parameter(query="metricName")],
    group: Annotated[str | None, Parameter(query="group", required=False)] = None,
    metric_type: Annotated[MetricType | None, Parameter(query="metricType", required=False)] = None,
) -> MetricKey:
    return metric_key(experiment_id, name, group, metric_type)


async def read_series(
    name: str,
    group: str = "training",
    first: Annotated[int | None, Parameter(query="from", ge=0, le=MAX_INT64, required=False)] = None,
    last: Annotated[int | None, Parameter(query="to", ge=0, le=MAX_INT64, required=False)] = None,
    points: Annotated[int, Parameter(query="points", ge=1, le=MAX_POINTS, required=False)] = DEFAULT_POINTS,
) -> SeriesQuery:
    return SeriesQuery(group, name, first, last, points)


async def read_compare(
    request: Request[Any, Any, Any],
    *,
    trial_ids: Annotated[list[int], Parameter(query="trialIds")],
    ids: Annotated[list[str] | None, Parameter(query="metricIds", required=False)] = None,
    names: Annotated[list[str] | None, Parameter(query="metricNames", required=False)] = None,
    group: Annotated[str | None, Parameter(query="group", required=False)] = None,
    metric_type: Annotated[MetricType | None, Parameter(query="metricType", required=False)] = None,
    first: Annotated[int | None, Parameter(query="startBatches", ge=0, le=MAX_INT64, required=False)] = None,
    last: Annotated[int | None, Parameter(query="endBatches", ge=0, le=MAX_INT64, required=False)] = None,
    points: Annotated[int | None, Parameter(query="maxDatapoints", ge=0, le=MAX_INT64, required=False)] = None,
) -> CompareQuery:
    known = {MetricType.TRAINING: "training", MetricType.VALIDATION: "validation"}
    chosen = group or (known.get(metric_type) if metric_type else None)
    return CompareQuery(
        trial_ids=trial_ids,
        metrics=metric_ids(ids or [], names or [], chosen),
        first=first or None,
        last=last or None,
        points=min(points or DEFAULT_POINTS, MAX_POINTS),
        filters=read_filters(list(request.query_params.multi_items())),
    )


async def read_buckets(
    compare_query: CompareQuery,
    sampling: Annotated[Literal["bucket"] | None, Parameter(query="sampling", required=False)] = None,
    axis: Annotated[SeriesAxis, Parameter(query="xAxis", required=False)] = SeriesAxis.BATCH,
    start: Annotated[float | None, Parameter(query="start", required=False)] = None,
    end: Annotated[float | None, Parameter(query="end", required=False)] = None,
    since: Annotated[list[str] | None, Parameter(query="since", required=False)] = None,
) -> BucketQuery | None:
    """`sampling=bucket` asks for columns instead of points; `start` and `end` are values of the axis.

    `since` names what was read before, as `<trial>/<group>/<token>` of an earlier answer.
    """
    if sampling is None:
        return None
    if compare_query.filters:
        raise InvalidArgument("timeSeriesFilter does not go with sampling=bucket; use xAxis, start and end")
    return BucketQuery(
        trial_ids=compare_query.trial_ids,
        metrics=compare_query.metrics,
        points=compare_query.points,
        axis=axis,
        first=compare_query.first,
        last=compare_query.last,
        start=start,
        end=end,
        since=positions_of(since or []),
    )


def read_filters(items: list[tuple[str, str]]) -> list[TimeSeriesFilter]:
    """`timeSeriesFilter.name=epoch&timeSeriesFilter.doubleRange.lt=3`: one filter, of which one range is given."""
    given: dict[str, list[str]] = {}
    for key, value in items:
        if key.startswith(_FILTER):
            given.setdefault(key.removeprefix(_FILTER), []).append(value)
    name = given.pop("name", [""])[0]
    if not given:
        return []
    if not name:
        raise InvalidArgument("timeSeriesFilter.name is missing; use batches, time or the name of a metric")
    times = {bound: _time(given, bound) for bound in _BOUNDS}
    bounds = {b: _number(given, f"doubleRange.{b}", f"integerRange.{b}") for b in _BOUNDS}
    merged = {b: times[b] if times[b] is not None else bounds[b] for b in _BOUNDS}
    return [
        TimeSeriesFilter(
            name,
            Range(**merged, incl=_integers(given, "integerRange.incl"), not_in=_integers(given, "integerRange.notIn")),
        )
    ]


def _time(given: dict[str, list[str]], bound: str) -> float | None:
    key = f"timeRange.{bound}"
    moment = parse_time(given.get(key, [""])[0], _FILTER + key)
    return None if moment is None else moment.timestamp()


def _number(given: dict[str, list[str]], *keys: str) -> float | None:
    key = next((k for k in keys if k in given), None)
    if key is None:
        return None
    try:
        return float(given[key][0])
    except ValueError as e:
        raise InvalidArgument(f"{_FILTER}{key}={given[key][0]!r} is not a number") from e


def _integers(given: dict[str, list[str]], key: str) -> frozenset[int]:
    try:
        return frozenset(int(value) for value in given.get(key, []))
    except ValueError as e:
        raise InvalidArgument(f"{_FILTER}{key} holds something that is not a whole number") from e
