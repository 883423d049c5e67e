"""Which hyperparameters vary, what is drawn for them, and in which order."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from determined.errors import InvalidConfig
from determined.search.rng import Rng
from determined.search.sampling import carry_over, sample

INT = {"type": "int", "minval": 0, "maxval": 10}


def test_constants_lists_and_empty_groups_draw_nothing() -> None:
    rng, untouched = Rng(1), Rng(1)
    space = {
        "plain": 3,
        "none": None,
        "list": [{"type": "int", "minval": 0, "maxval": 9}],
        "const": {"type": "const", "val": {"type": "int"}},
        "empty": {},
    }
    assert sample(space, rng) == {
        "plain": 3,
        "none": None,
        "list": [{"type": "int", "minval": 0, "maxval": 9}],
        "const": {"type": "int"},
        "empty": {},
    }
    assert rng.snapshot() == untouched.snapshot()


def test_order_of_names_in_the_config_does_not_change_the_draws() -> None:
    nested = {"z": INT, "a": {"y": INT, "b": INT}}
    shuffled = {"a": {"b": INT, "y": INT}, "z": INT}
    assert sample(nested, Rng(5)) == sample(shuffled, Rng(5))


def test_upper_case_names_come_before_lower_case() -> None:
    first = sample({"Z": INT}, Rng(3))["Z"]
    assert sample({"a": INT, "Z": INT}, Rng(3))["Z"] == first


@settings(deadline=None)
@given(seed=st.integers(0, 2**31 - 1), low=st.integers(-50, 50), width=st.integers(1, 50))
def test_draws_stay_in_range(seed: int, low: int, width: int) -> None:
    ends: dict[str, Any] = {"minval": low, "maxval": low + width}
    space = {
        "i": {"type": "int", **ends},
        "d": {"type": "double", **ends},
        "l": {"type": "log", "base": 10, "minval": -3, "maxval": -1},
        "c": {"type": "categorical", "vals": ["x", None, {"k": 1}]},
    }
    drawn = sample(space, Rng(seed))
    assert isinstance(drawn["i"], int)
    assert low <= drawn["i"] <= low + width
    assert low <= drawn["d"] <= low + width
    assert 1e-3 <= drawn["l"] <= 1e-1
    assert drawn["c"] in ["x", None, {"k": 1}]


def test_unknown_type_names_its_path() -> None:
    with pytest.raises(InvalidConfig, match=r"<config>\.hyperparameters\.opt\.lr: type must be .* not 'flaot'"):
        sample({"opt": {"lr": {"type": "flaot"}}}, Rng(0))


def test_a_changed_space_keeps_what_was_drawn_from_unchanged_ranges() -> None:
    drawn = {"type": "double", "minval": 0, "maxval": 1}
    before = {"a": drawn, "b": drawn, "gone": 1, "group": {"x": drawn, "y": 1}, "turned": 3}
    after = {"a": drawn, "b": {**drawn, "maxval": 9}, "group": {"x": drawn, "y": 2}, "new": 5, "turned": {"z": 4}}
    had = {"a": 0.25, "b": 0.5, "gone": 1, "group": {"x": 0.75, "y": 1}, "turned": 3}
    fresh = {"a": 0.9, "b": 8.0, "group": {"x": 0.1, "y": 2}, "new": 5, "turned": {"z": 4}}
    expected = {"a": 0.25, "b": 8.0, "group": {"x": 0.75, "y": 2}, "new": 5, "turned": {"z": 4}}
    assert carry_over(before, after, had, fresh) == expected
