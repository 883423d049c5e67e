"""Series made short for charts of several trials: no extreme is lost, and what is short stays exact."""

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from determined.errors import InvalidArgument
from determined.master.db.queries.metric_series import Series
from determined.master.services.downsample import bucket, spans
from determined.master.services.metric_compare import Range, data_points, metric_ids
from determined.master.services.metric_streams import metric_key


@given(st.integers(0, 5000), st.integers(1, 300))
def test_spans_cover_every_report_once_in_parts_of_about_one_size(n: int, points: int) -> None:
    found = spans(n, points)
    assert [i for start, end in found for i in range(start, end)] == list(range(n))
    assert len(found) == min(n, points)
    sizes = {end - start for start, end in found}
    assert not sizes or max(sizes) - min(sizes) <= 1


_VALUES = st.lists(
    st.one_of(st.none(), st.integers(-9, 9), st.floats(), st.booleans(), st.sampled_from(["x"])), max_size=60
)


@given(_VALUES, st.integers(1, 20))
def test_a_bucket_has_the_last_value_and_the_extremes_of_its_finite_numbers(values: list[Any], points: int) -> None:
    for start, end in spans(len(values), points):
        part = values[start:end]
        present = [(i, v) for i, v in enumerate(part, start) if v is not None]
        found = bucket(values, start, end)
        if not present:
            assert found is None
            continue
        assert found is not None and found.at == present[-1][0] and repr(found.last) == repr(present[-1][1])
        numbers = [v for v in part if type(v) in (int, float) and math.isfinite(v)]
        if numbers:
            assert (found.min, found.max) == (min(numbers), max(numbers))
        else:
            assert repr(found.min) == repr(found.max) == repr(found.last)


def series(**columns: list[Any]) -> Series:
    n = len(next(iter(columns.values())))
    return Series([10 * i for i in range(n)], [float(i) for i in range(n)], dict(columns))


def test_few_reports_are_points_as_they_were() -> None:
    first, second = data_points(series(loss=[1.5, "text"], epoch=[0, 1]), ["loss"], 10)
    assert (first.batches, first.values, first.epoch) == (0, {"loss": 1.5}, 0.0)
    assert (second.batches, second.values, second.epoch) == (10, {"loss": "text"}, 1.0)
    assert second.time == "1970-01-01T00:00:01.000000Z"
    assert first.min is first.max is UNSET, "the value is both"


def test_a_point_of_many_reports_has_its_spread_by_name() -> None:
    [point] = data_points(series(loss=[3.0, -1.0, 2.0], acc=[1, 1, 1]), ["loss", "acc"], 1)
    assert (point.batches, point.values) == (20, {"loss": 2.0, "acc": 1})
    assert (point.min, point.max) == ({"loss": -1.0}, {"loss": 3.0}), "what never changed has none"


def test_reports_without_any_of_the_names_make_no_point() -> None:
    found = data_points(series(loss=[None, 1.0, None, None]), ["loss"], 4)
    assert [point.batches for point in found] == [10]
    assert data_points(series(loss=[None, None]), ["loss"], 1) == []


def test_a_point_lies_where_the_last_of_its_names_was_reported() -> None:
    [point] = data_points(series(loss=[1.0, None, None], acc=[None, 2.0, None]), ["loss", "acc"], 1)
    assert (point.batches, point.values) == (10, {"loss": 1.0, "acc": 2.0})


def test_whatever_the_number_of_points_no_extreme_is_lost() -> None:
    rng = random.Random(8)
    values = [rng.uniform(-1, 1) for _ in range(1000)]
    for points in (1, 7, 333, 999):
        found = data_points(series(loss=list(values)), ["loss"], points)
        assert len(found) == points
        lows = [(point.min or point.values)["loss"] for point in found]
        highs = [(point.max or point.values)["loss"] for point in found]
        assert (min(lows), max(highs)) == (min(values), max(values))


@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [
        (Range(), [0, -1.5, math.inf], [None, "1", True]),
        (Range(gt=1), [1.1, 2], [1, 0]),
        (Range(gte=1), [1, 2], [0.9]),
        (Range(lt=1), [0.9], [1, 2]),
        (Range(lte=1), [1, 0], [1.1]),
        (Range(gt=0, lte=2), [1, 2], [0, 3]),
        (Range(incl=frozenset({1, 3})), [1, 3, 3.0], [2]),
        (Range(not_in=frozenset({1})), [2], [1, 1.0]),
        (Range(gte=0), [0], [math.nan]),
    ],
)
def test_bounds_are_open_or_closed_as_their_names_say(bounds: Range, inside: list[Any], outside: list[Any]) -> None:
    assert all(bounds.holds(value) for value in inside)
    assert not any(bounds.holds(value) for value in outside)


def test_metrics_are_named_whole_or_by_their_group() -> None:
    assert metric_ids(["validation.loss.top"], ["acc"], "mine") == [("validation", "loss.top"), ("mine", "acc")]
    assert metric_ids([], ["acc"], None) == [("training", "acc"), ("validation", "acc")]


@pytest.mark.parametrize("bad", ["loss", ".loss", "validation.", "", "."])
def test_a_metric_without_a_group_or_a_name_is_refused(bad: str) -> None:
    with pytest.raises(InvalidArgument, match=r"is not of the form <group>\.<name>, such as validation\.loss"):
        metric_ids([bad], [], None)


@pytest.mark.parametrize(
    ("group", "kind", "meant"),
    [
        ("mine", None, "mine"),
        ("mine", "METRIC_TYPE_TRAINING", "mine"),
        (None, "METRIC_TYPE_TRAINING", "training"),
        (None, "METRIC_TYPE_VALIDATION", "validation"),
    ],
)
def test_older_clients_say_a_type_instead_of_a_group(group: str | None, kind: str | None, meant: str) -> None:
    assert metric_key(1, "loss", group, kind).group == meant


@pytest.mark.parametrize(("name", "group"), [("", "training"), ("loss", None), ("loss", "")])
def test_a_stream_of_no_metric_is_refused(name: str, group: str | None) -> None:
    with pytest.raises(InvalidArgument, match="metricName and group"):
        metric_key(1, name, group, "METRIC_TYPE_UNSPECIFIED")
