"""The space as plain numbers, and back."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from determined.search.axes import Axes
from determined.search.rng import Rng
from determined.search.sampling import sample

SPACE: dict[str, Any] = {
    "lr": {"type": "log", "base": 10, "minval": -5, "maxval": 0},
    "half": {"type": "log", "base": 0.5, "minval": 1, "maxval": 4},
    "width": {"type": "int", "minval": 1, "maxval": 64},
    "net": {
        "rate": {"type": "double", "minval": -1, "maxval": 1},
        "act": {"type": "categorical", "vals": ["relu", None, {"elu": 1.5}, [1, 2], True, 1, 0]},
        "empty": {},
    },
    "a.b": {"type": "int", "minval": 0, "maxval": 1},
    "a": {"b": {"type": "int", "minval": 0, "maxval": 1}},
    "only": {"type": "categorical", "vals": ["one"]},
    "const": {"type": "const", "val": [{"type": "int"}]},
}


@given(st.integers(0, 2**31))
def test_every_drawn_point_comes_back_from_its_numbers(seed: int) -> None:
    drawn = sample(SPACE, Rng(seed))
    axes = Axes(SPACE)
    numbers = axes.numbers(drawn)
    assert numbers is not None
    back = axes.point(numbers)
    assert back["lr"] == pytest.approx(drawn["lr"]) and back["half"] == pytest.approx(drawn["half"])
    assert {**back, "lr": 0, "half": 0} == {**drawn, "lr": 0, "half": 0}
    assert type(back["net"]["act"]) is type(drawn["net"]["act"])  # true is not 1


def test_names_are_unique_where_labels_are_not() -> None:
    axes = Axes(SPACE)
    assert len({axis.name for axis in axes.each}) == len(axes.each) == 7
    assert [axis.label for axis in axes.each].count("a.b") == 2


def test_the_ends_of_a_log_range_stay_inside() -> None:
    (axis,) = Axes({"lr": SPACE["lr"]}).each
    assert axis.number(1e-5) == -5.0
    assert axis.number(1.0000000001) == 0.0


@pytest.mark.parametrize(
    "change",
    [{"lr": 0}, {"lr": None}, {"lr": math.nan}, {"width": "8"}, {"width": True}, {"net": {"rate": 0.1}}, {"net": 3}],
)
def test_a_point_of_another_space_has_no_numbers(change: dict[str, Any]) -> None:
    assert Axes(SPACE).numbers({**sample(SPACE, Rng(1)), **change}) is None


def test_a_whole_number_is_found_among_categories_however_it_is_written() -> None:
    (axis,) = Axes({"x": {"type": "categorical", "vals": [2, 3.0]}}).each
    assert (axis.number(2.0), axis.number(3)) == (0, 1)
