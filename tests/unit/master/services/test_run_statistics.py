"""Groups and exact statistics."""

import math
import random
import statistics as reference

from hypothesis import given
from hypothesis import strategies as st

from determined.master.services.run_statistics import gather, ordered, statistics


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50))
def test_statistics_are_those_of_the_library(values: list[float]) -> None:
    found = statistics(values)
    assert found.n == len(values) and found.min == min(values) and found.max == max(values)
    assert found.mean is not None and math.isclose(found.mean, reference.fmean(values), rel_tol=1e-12, abs_tol=1e-9)
    assert found.std is not None and math.isclose(found.std, reference.stdev(values), rel_tol=1e-7, abs_tol=1e-7)


def test_the_order_of_values_changes_nothing() -> None:
    values = [1e16, 1.0, -1e16, 3.0, 0.1]
    shuffled = values.copy()
    random.Random(1).shuffle(shuffled)
    assert statistics(values).mean == statistics(shuffled).mean == 4.1 / 5


def test_few_or_huge_values_have_what_they_can_have() -> None:
    assert statistics([]).mean is None and statistics([2.0]).std is None and statistics([2.0]).mean == 2.0
    assert statistics([1e308, 1e308]).mean == 1e308


def test_equal_keys_are_told_from_lookalikes() -> None:
    keys = [1, True, "1", 1.0, None, [1], {"a": 1}, {"a": 1}]
    groups = gather(((n, [key], []) for n, key in enumerate(keys)), 0)
    assert [group.ids for group in groups] == [[0, 3], [1], [2], [4], [5], [6, 7]]


def test_numbers_that_are_none_or_infinite_are_left_out() -> None:
    [group] = gather([(1, ["a"], [1.0]), (2, ["a"], [None]), (3, ["a"], [math.inf])], 1)
    assert group.ids == [1, 2, 3] and group.values == [[1.0]]


def test_groups_without_a_value_come_last_in_both_directions() -> None:
    groups = gather([(1, [2], []), (2, [None], []), (3, ["x"], []), (4, [1], [])], 0)
    for descending, keys in ((False, [1, 2, "x", None]), (True, ["x", 2, 1, None])):
        assert [group.key[0] for group in ordered(groups, [(lambda g: g.key[0], descending)])] == keys


@given(st.floats(-1e300, 1e300), st.integers(2, 20))
def test_equal_values_have_that_mean_and_no_deviation(value: float, n: int) -> None:
    found = statistics([value] * n)
    assert (found.mean, found.std, found.min, found.max) == (value, 0.0, value, value)
