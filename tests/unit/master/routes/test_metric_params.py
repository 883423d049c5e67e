"""Query strings of charts: filters named by dotted keys, points and ranges."""

from typing import Any

import pytest

from determined.errors import InvalidArgument
from determined.master.routes.metric_params import bucket_query, compare_query, read_filters, sample_query
from determined.wire.metric import SeriesAxis
from determined.wire.metric_query import DEFAULT_POINTS, MAX_POINTS, CompareTrials, StreamTrialsSample
from determined.wire.trial import MetricType


def items(text: str) -> list[tuple[str, str]]:
    """`doubleRange.lt=3 integerRange.incl=1` as a query string names it."""
    pairs = (part.partition("=") for part in text.split())
    return [(f"timeSeriesFilter.{key}", value) for key, _, value in pairs]


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("doubleRange.lt=3.5", {"lt": 3.5}),
        ("integerRange.gte=2 integerRange.lte=9", {"gte": 2.0, "lte": 9.0}),
        ("doubleRange.gt=1 integerRange.gt=5", {"gt": 1.0}),
        ("timeRange.gt=2026-11-15T04:00:00Z", {"gt": 1794715200.0}),
        ("timeRange.lt=10 doubleRange.lt=5", {"lt": 10.0}),
        ("integerRange.incl=1 integerRange.incl=4", {"incl": frozenset({1, 4})}),
        ("integerRange.notIn=7", {"not_in": frozenset({7})}),
        ("doubleRange.lt=3 doubleRange.lt=9", {"lt": 3.0}),
    ],
)
def test_a_filter_reads_the_bounds_of_its_range(text: str, bounds: dict[str, Any]) -> None:
    [found] = read_filters([("other", "x"), *items(f"name=epoch {text}")])
    default = {"gt": None, "gte": None, "lt": None, "lte": None, "incl": frozenset(), "not_in": frozenset()}
    assert found.name == "epoch"
    assert {name: getattr(found.range, name) for name in default} == default | bounds


@pytest.mark.parametrize("text", ["", "name=epoch"])
def test_a_filter_without_a_range_keeps_everything(text: str) -> None:
    assert read_filters(items(text)) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("doubleRange.lt=3", "timeSeriesFilter.name is missing; use batches, time or the name of a metric"),
        ("name=x doubleRange.lt=far", "timeSeriesFilter.doubleRange.lt='far' is not a number"),
        ("name=x integerRange.gt=", "timeSeriesFilter.integerRange.gt='' is not a number"),
        (
            "name=x integerRange.incl=1.5",
            "timeSeriesFilter.integerRange.incl holds something that is not a whole number",
        ),
        ("name=x integerRange.notIn=a", "timeSeriesFilter.integerRange.notIn holds something"),
        ("name=x timeRange.lte=noon", "timeSeriesFilter.timeRange.lte='noon' is not a time"),
    ],
)
def test_a_filter_that_cannot_be_read_names_its_parameter(text: str, says: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        read_filters(items(text))
    assert says in refused.value.message


@pytest.mark.parametrize(("value", "kept"), [(2, False), (3, True), (4, True), (5, False), (True, False), ("3", False)])
def test_a_range_holds_numbers_between_its_bounds(value: Any, kept: bool) -> None:
    [found] = read_filters(items("name=x integerRange.gt=2 integerRange.lt=5 integerRange.notIn=9"))
    assert found.range.holds(value) is kept


@pytest.mark.parametrize(
    ("asked", "points"), [(None, DEFAULT_POINTS), (0, DEFAULT_POINTS), (1, 1), (MAX_POINTS + 1, MAX_POINTS)]
)
def test_a_chart_has_a_sane_number_of_points(asked: int | None, points: int) -> None:
    params = CompareTrials(trial_ids=[1], metric_names=["loss"], max_datapoints=asked)
    assert compare_query(params, []).points == points


def test_a_group_may_be_named_as_older_clients_name_it() -> None:
    def groups(**named: Any) -> set[str]:
        query = compare_query(CompareTrials(trial_ids=[1], metric_names=["loss"], **named), [])
        return {group for group, _ in query.metrics}

    assert groups(metric_type=MetricType.VALIDATION) == {"validation"}
    assert groups(group="mine", metric_type=MetricType.VALIDATION) == {"mine"}
    assert groups() == groups(metric_type=MetricType.UNSPECIFIED) == {"training", "validation"}


@pytest.mark.parametrize("name", ["loss", ".loss", "training.", ""])
def test_a_metric_without_a_group_or_a_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match=r"is not of the form <group>.<name>, such as validation.loss"):
        compare_query(CompareTrials(trial_ids=[1], metric_ids=[name]), [])
    with pytest.raises(InvalidArgument, match="name a metric: metricName and group"):
        sample_query(3, StreamTrialsSample(metric_name="loss", metric_type=MetricType.UNSPECIFIED))


def test_the_name_of_a_metric_may_have_dots() -> None:
    query = compare_query(CompareTrials(trial_ids=[1], metric_ids=["validation.a.b"]), [])
    assert query.metrics == [("validation", "a.b")]


def test_zero_batches_mean_no_bound() -> None:
    query = compare_query(CompareTrials(trial_ids=[1], metric_names=["a"], start_batches=0, end_batches=0), [])
    assert (query.first, query.last) == (None, None)
    sample = sample_query(3, StreamTrialsSample(metric_name="loss", metric_type=MetricType.TRAINING))
    assert (sample.first, sample.last, sample.points) == (None, None, DEFAULT_POINTS)
    assert sample.key.experiment_id == 3 and sample.trials > 0


def test_buckets_take_an_axis_and_no_filter() -> None:
    params = CompareTrials(trial_ids=[1], metric_names=["a"], x_axis=SeriesAxis.TIME, start=1.5, end=2.5)
    query = bucket_query(params, compare_query(params, []))
    assert (query.axis, query.start, query.end) == (SeriesAxis.TIME, 1.5, 2.5)
    with pytest.raises(InvalidArgument, match="timeSeriesFilter does not go with sampling=bucket; use xAxis"):
        bucket_query(params, compare_query(params, items("name=x doubleRange.lt=1")))
