"""The points of a grid and their order."""

from typing import Any

import pytest

from determined.errors import InvalidConfig
from determined.search.grid_points import GridPoints


def values(hp: Any) -> list[Any]:
    grid = GridPoints({"x": hp})
    return [grid[i]["x"] for i in range(len(grid))]


@pytest.mark.parametrize(
    ("low", "high", "count", "expected"),
    [
        (0, 10, 4, [0, 3, 7, 10]),
        (1, 2, 5, [1, 2]),
        (0, 5, 1, [3]),
        (-5, 0, 1, [-3]),
        (-3, 0, 3, [-3, -2, 0]),
        (0, 3, 3, [0, 2, 3]),
    ],
)
def test_int_axis_is_clamped_and_rounds_halves_away_from_zero(
    low: int, high: int, count: int, expected: list[int]
) -> None:
    points = values({"type": "int", "minval": low, "maxval": high, "count": count})
    assert points == expected
    assert all(isinstance(point, int) for point in points)


def test_double_axis_is_evenly_spread() -> None:
    assert values({"type": "double", "minval": 0, "maxval": 1, "count": 3}) == [0, 0.5, 1]
    assert values({"type": "double", "minval": 0, "maxval": 3, "count": 1}) == [1.5]


def test_log_axis_is_spread_over_exponents() -> None:
    hp = {"type": "log", "base": 10, "minval": -3, "maxval": -1, "count": 3}
    assert values(hp) == pytest.approx([0.001, 0.01, 0.1], rel=1e-12)


def test_first_axis_is_slowest() -> None:
    grid = GridPoints(
        {
            "b": {"type": "int", "minval": 0, "maxval": 1, "count": 2},
            "a": {"type": "categorical", "vals": ["x", "y"]},
        }
    )
    assert [grid[i] for i in range(len(grid))] == [
        {"a": "x", "b": 0},
        {"a": "x", "b": 1},
        {"a": "y", "b": 0},
        {"a": "y", "b": 1},
    ]


def test_nested_constants_and_empty_groups_keep_their_place() -> None:
    grid = GridPoints({"g": {"k": {"type": "categorical", "vals": [1, 2]}, "e": {}}, "c": [7], "n": None})
    assert [grid[i] for i in range(len(grid))] == [
        {"c": [7], "g": {"e": {}, "k": 1}, "n": None},
        {"c": [7], "g": {"e": {}, "k": 2}, "n": None},
    ]


def test_no_hyperparameters_is_one_point() -> None:
    assert len(GridPoints({})) == 1
    assert GridPoints({})[0] == {}


def test_points_share_no_mutable_group() -> None:
    grid = GridPoints({"e": {}})
    grid[0]["e"]["changed"] = True
    assert grid[0] == {"e": {}}


def test_missing_count_names_its_path() -> None:
    with pytest.raises(InvalidConfig, match=r"hyperparameters\.opt\.lr: .*`count` was not provided: add `count`"):
        GridPoints({"opt": {"lr": {"type": "double", "minval": 0, "maxval": 1}}})


def test_empty_categorical_is_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"hyperparameters\.a: vals is empty"):
        GridPoints({"a": {"type": "categorical", "vals": []}})
