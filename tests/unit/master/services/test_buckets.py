"""Buckets of long series: nothing is lost from sight, whatever the way the points came in."""

import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from determined.master.services.buckets import Buckets


def _of(values: list[float], points: int, piece: int = 512) -> Buckets:
    found = Buckets(points)
    for start in range(0, len(values), piece):
        found.add(range(start, min(start + piece, len(values))), array("d", values[start : start + piece]))
    return found


def test_few_points_are_exact() -> None:
    found = _of([3.0, 1.0, 2.0], 3)
    assert (found.exact, found.x, found.last, found.count) == (True, [0, 1, 2], [3.0, 1.0, 2.0], [1, 1, 1])
    assert found.min == found.max == found.last


def test_one_point_too_many_is_not_exact() -> None:
    found = _of([3.0, 1.0, 2.0, 9.0], 3)
    assert (found.exact, found.x, found.last) == (False, [1, 3], [1.0, 9.0])
    assert (found.min, found.max, found.count) == ([1.0, 2.0], [3.0, 9.0], [2, 2])


@pytest.mark.parametrize("at", [0, 1, 511, 512, 77_777, 99_999])
def test_a_spike_of_one_step_is_an_extreme(at: int) -> None:
    values = [1.0] * 100_000
    values[at] = -50.0
    found = _of(values, 1500)
    assert min(found.min) == -50.0
    assert len(found.x) <= 1500
    assert sum(found.count) == 100_000


def test_nan_and_infinity_are_told_as_last_values_and_hide_no_extreme() -> None:
    found = _of([1.0, math.inf, 5.0, math.nan, math.nan, math.nan], 3)
    assert found.min[:2] == found.max[:2] == [1.0, 5.0]
    assert found.last[0] == math.inf
    assert math.isnan(found.last[1])
    assert math.isnan(found.max[2])


def test_huge_values_whose_sum_overflows_are_finite_all_the_same() -> None:
    found = _of([1e308, 1e308, 1e308, 2.0], 2)
    assert (found.min, found.max) == ([1e308, 2.0], [1e308, 1e308])


@given(st.lists(st.floats(allow_nan=False), max_size=300), st.integers(1, 20), st.integers(1, 50))
def test_the_way_points_came_in_does_not_show(values: list[float], points: int, piece: int) -> None:
    whole, pieces = _of(values, points, 1000), _of(values, points, piece)
    assert (whole.x, whole.last, whole.count) == (pieces.x, pieces.last, pieces.count)
    assert (whole.min, whole.max) == (pieces.min, pieces.max)
    assert len(whole.x) <= points
    assert sum(whole.count) == len(values)
    finite = [v for v in values if math.isfinite(v)]
    if finite:
        assert min(v for v in whole.min if math.isfinite(v)) == min(finite)
        assert max(v for v in whole.max if math.isfinite(v)) == max(finite)


def test_a_point_that_is_added_changes_the_last_bucket_only() -> None:
    before, after = _of([float(i) for i in range(1000)], 300), _of([float(i) for i in range(1001)], 300)
    assert before.x[:-1] == after.x[: len(before.x) - 1]
    assert before.min[:-1] == after.min[: len(before.x) - 1]
