"""Trials of different lengths in one order."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from determined.search.fidelity import level_at, ordered
from determined.search.registry import load_searcher

RECORDS = st.lists(
    st.dictionaries(st.integers(0, 3), st.integers(0, 20).map(float), min_size=1, max_size=4), max_size=20
)


def levels_of(searcher: dict[str, Any]) -> list[int]:
    return load_searcher(searcher, whole=False).levels()


def test_levels_are_the_rungs_of_the_method() -> None:
    timed = {"time_metric": "batches", "max_time": 64}
    assert levels_of({"name": "async_halving", "num_rungs": 3, "divisor": 4, **timed}) == [4, 16, 64]
    assert levels_of({"name": "adaptive_asha", "max_rungs": 5, **timed, "max_length": 7}) == [1, 4, 16, 64]
    assert levels_of({"name": "adaptive_asha", "bracket_rungs": [2, 1], "max_length": {"epochs": 8}}) == [2, 8]
    assert levels_of({"name": "random", "max_length": 8}) == [0]


def test_a_length_belongs_to_the_highest_level_it_reached() -> None:
    assert [level_at([4, 16], length) for length in (3, 4, 15.5, 16, 99)] == [None, 0, 0, 1, 1]
    assert level_at([0], 0) == 0


def test_those_that_went_on_are_ordered_by_their_later_results() -> None:
    slow_starter, quick_starter, stopped = {0: 2.0, 1: 0.1}, {0: 1.0, 1: 0.9}, {0: 3.0}
    assert ordered([slow_starter, quick_starter, stopped]) == [0, 1, 2]


def test_a_trial_that_was_stopped_stays_before_the_worse_ones_that_went_on_by_luck() -> None:
    early_and_bad, good, better = {0: 9.0, 1: 8.0}, {0: 1.0}, {0: 0.5, 1: 0.2}
    assert ordered([early_and_bad, good, better]) == [2, 1, 0]


def test_one_that_began_higher_stands_where_its_own_level_puts_it() -> None:
    began_higher, best, worst = {1: 0.5}, {0: 1.0, 1: 0.1}, {0: 2.0, 1: 0.9}
    assert ordered([began_higher, best, worst]) == [1, 0, 2]


@given(RECORDS)
def test_every_trial_has_one_place(records: list[dict[int, float]]) -> None:
    assert sorted(ordered(records)) == list(range(len(records)))


@given(RECORDS)
def test_the_highest_level_is_in_the_order_of_its_results(records: list[dict[int, float]]) -> None:
    top = max((level for one in records for level in one), default=0)
    values = [records[place][top] for place in ordered(records) if top in records[place]]
    assert values == sorted(values)
