"""What a search minimises: directions, several metrics, values that are no numbers."""

import math

import pytest

from determined.errors import InvalidArgument
from determined.search.method import WORST
from determined.search.objectives import Objective, Objectives

BOTH = Objectives((Objective("accuracy", False), Objective("latency", True)))


def test_one_metric_comes_from_metric_and_its_direction() -> None:
    assert Objectives.of({"metric": "acc", "smaller_is_better": False}).each == (Objective("acc", False),)
    assert Objectives.of({"metric": "loss"}).each == (Objective("loss", True),)


def test_several_metrics_win_over_the_one_that_repeats_the_first() -> None:
    metrics = [{"name": "a", "smaller_is_better": False}, {"name": "b"}]
    searcher = {"metric": "a", "smaller_is_better": False, "metrics": metrics}
    assert Objectives.of(searcher).each == (Objective("a", False), Objective("b", True))
    assert Objectives.of(searcher).names == ("a", "b")


def test_values_are_signed_so_that_lower_is_better() -> None:
    assert BOTH.signed({"accuracy": 0.9, "latency": 12, "other": "x"}) == [-0.9, 12.0]
    assert Objectives.of({"metric": "loss"}).signed(3) == [3.0]
    assert Objectives.of({"metric": "loss"}).signed({"loss": 3}) == [3.0]


@pytest.mark.parametrize("worst", [math.nan, "NaN", math.inf, "Infinity", WORST])
def test_what_is_no_number_to_compare_counts_as_the_worst(worst: float | str) -> None:
    assert Objectives.of({"metric": "loss"}).signed(worst) == [WORST]


def test_infinity_is_the_best_where_larger_is_better() -> None:
    assert Objectives.of({"metric": "acc", "smaller_is_better": False}).signed(math.inf) == [-WORST]
    assert Objectives.of({"metric": "acc", "smaller_is_better": False}).signed(math.nan) == [WORST]


@pytest.mark.parametrize("latency", [{}, {"latency": None}, {"latency": True}, {"latency": "fast"}])
def test_an_objective_that_is_missing_or_no_number_is_named(latency: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument, match="'latency'"):
        BOTH.signed({"accuracy": 1.0, **latency})
