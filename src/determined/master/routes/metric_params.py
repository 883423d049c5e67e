"""The query strings of charts: which metrics, which range of steps, how many points."""

from determined.errors import InvalidArgument
from determined.master.services.metric_buckets import BucketQuery, positions_of
from determined.master.services.metric_compare import CompareQuery, Range, TimeSeriesFilter, metric_ids
from determined.master.services.metric_streams import DEFAULT_TRIALS, MetricKey, SampleQuery, metric_key
from determined.master.services.parse_time import parse_time
from determined.wire.metric_query import (
    DEFAULT_POINTS,
    MAX_POINTS,
    CompareTrials,
    StreamMetricBatches,
    StreamTrialsSample,
)
from determined.wire.trial import MetricType

_FILTER = "timeSeriesFilter."
_BOUNDS = ("gt", "gte", "lt", "lte")


def sample_query(experiment_id: int, params: StreamTrialsSample) -> SampleQuery:
    """Read which series of which trials are sampled."""
    return SampleQuery(
        metric_of(experiment_id, params),
        params.max_trials or DEFAULT_TRIALS,
        params.max_datapoints or DEFAULT_POINTS,
        params.start_batches or None,
        params.end_batches or None,
    )


def metric_of(experiment_id: int, params: StreamMetricBatches) -> MetricKey:
    return metric_key(experiment_id, params.metric_name, params.group, params.metric_type)


def compare_query(params: CompareTrials, items: list[tuple[str, str]]) -> CompareQuery:
    """Read what is compared. `items`: the query string, whose filters are named by their own dotted keys."""
    groups = {MetricType.TRAINING: "training", MetricType.VALIDATION: "validation"}
    group = params.group or (groups.get(params.metric_type) if params.metric_type else None)
    return CompareQuery(
        trial_ids=params.trial_ids,
        metrics=metric_ids(params.metric_ids or [], params.metric_names or [], group),
        first=params.start_batches or None,
        last=params.end_batches or None,
        points=min(params.max_datapoints or DEFAULT_POINTS, MAX_POINTS),
        filters=read_filters(items),
    )


def bucket_query(params: CompareTrials, query: CompareQuery) -> BucketQuery:
    """Read how the same is cut into buckets."""
    if query.filters:
        raise InvalidArgument("timeSeriesFilter does not go with sampling=bucket; use xAxis, start and end")
    return BucketQuery(
        trial_ids=query.trial_ids,
        metrics=query.metrics,
        points=query.points,
        axis=params.x_axis,
        first=query.first,
        last=query.last,
        start=params.start,
        end=params.end,
        since=positions_of(params.since or []),
    )


def read_filters(items: list[tuple[str, str]]) -> list[TimeSeriesFilter]:
    """Read `timeSeriesFilter.name=epoch&timeSeriesFilter.doubleRange.lt=3`: one filter with one range."""
    values: dict[str, list[str]] = {}
    for key, value in items:
        if key.startswith(_FILTER):
            values.setdefault(key.removeprefix(_FILTER), []).append(value)
    name = values.pop("name", [""])[0]
    if not values:
        return []
    if not name:
        raise InvalidArgument("timeSeriesFilter.name is missing; use batches, time or the name of a metric")
    times = {bound: _time(values, bound) for bound in _BOUNDS}
    bounds = {b: _number(values, f"doubleRange.{b}", f"integerRange.{b}") for b in _BOUNDS}
    merged = {b: times[b] if times[b] is not None else bounds[b] for b in _BOUNDS}
    return [
        TimeSeriesFilter(
            name,
            Range(
                **merged, incl=_integers(values, "integerRange.incl"), not_in=_integers(values, "integerRange.notIn")
            ),
        )
    ]


def _time(values: dict[str, list[str]], bound: str) -> float | None:
    key = f"timeRange.{bound}"
    moment = parse_time(values.get(key, [""])[0], _FILTER + key)
    return None if moment is None else moment.timestamp()


def _number(values: dict[str, list[str]], *keys: str) -> float | None:
    key = next((k for k in keys if k in values), None)
    if key is None:
        return None
    try:
        return float(values[key][0])
    except ValueError as e:
        raise InvalidArgument(f"{_FILTER}{key}={values[key][0]!r} is not a number") from e


def _integers(values: dict[str, list[str]], key: str) -> frozenset[int]:
    try:
        return frozenset(int(value) for value in values.get(key, []))
    except ValueError as e:
        raise InvalidArgument(f"{_FILTER}{key} holds something that is not a whole number") from e
