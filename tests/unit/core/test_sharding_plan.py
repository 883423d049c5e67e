"""Plan of a sharded upload: who uploads what, who disagrees, and one metadata of all ranks."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from determined.core._sharding import Share, assigned, conflicts, duplicates, merge_metadata, uploaders

HERE, THERE = (0, 1, 10), (1, 1, 10)


def share(*paths: str, directory: tuple[int, int, int] | None = HERE, selected: bool = False) -> Share:
    return Share(directory, selected, dict.fromkeys(paths, 1))


def test_ranks_without_a_directory_upload_nothing() -> None:
    assert uploaders([share(directory=None), share("a"), share(directory=None)]) == [False, True, False]


def test_of_ranks_that_share_a_directory_only_the_lowest_uploads() -> None:
    assert uploaders([share("a"), share("a"), share("a", directory=THERE)]) == [True, False, True]


def test_a_rank_that_selects_a_part_leaves_the_rest_to_the_others() -> None:
    assert uploaders([share("a", selected=True), share("a", "b"), share("b")]) == [True, True, True]
    assert uploaders([share("a"), share("b", selected=True)]) == [True, False]


def test_each_file_is_uploaded_once_by_the_lowest_rank_that_has_it() -> None:
    shares = [share("a", "d/"), share("a", "b", "d/"), share("b", "c")]
    assert [assigned(rank, shares) for rank in range(3)] == [{"a", "d/"}, {"b", "d/"}, {"c"}]
    assert duplicates(shares) == {"a", "b"}


def test_files_of_the_same_content_are_no_conflict_and_others_name_their_ranks() -> None:
    shares = [share("a", "b"), share("b"), share("a", "b")]
    same = [{"a": "1", "b": "2"}, {"b": "2"}, {"a": "1", "b": "2"}]
    assert conflicts(shares, same) == {}
    other = [{"a": "1", "b": "2"}, {"b": "3"}, {"a": "9", "b": "2"}]
    assert conflicts(shares, other) == {"a": [0, 2], "b": [0, 1, 2]}


def test_a_file_here_and_a_directory_there_are_a_conflict() -> None:
    shares = [share("model"), share("model/", "model/part"), share("x")]
    assert conflicts(shares, [{}, {}, {}]) == {"model": [0, 1]}


def test_an_empty_directory_on_several_ranks_is_no_conflict() -> None:
    assert conflicts([share("logs/"), share("logs/")], [{}, {}]) == {}


_PATHS = st.sets(st.sampled_from(["a", "b", "c/x", "c/y", "d"]), max_size=5)


@given(st.lists(_PATHS, min_size=1, max_size=5))
def test_every_file_of_any_rank_is_assigned_to_exactly_one(everyone: list[set[str]]) -> None:
    shares = [Share((0, 0, rank), False, dict.fromkeys(paths, 1)) for rank, paths in enumerate(everyone)]
    parts = [assigned(rank, shares) for rank in range(len(shares))]
    assert sorted(path for part in parts for path in part) == sorted(set().union(*everyone))


def test_metadata_of_all_ranks_becomes_one() -> None:
    parts: list[Any] = [{"steps_completed": 1, "a": {"x": 1}}, {}, {"a": {"y": [1, 2]}, "steps_completed": 1}]
    assert merge_metadata(parts) == ({"steps_completed": 1, "a": {"x": 1, "y": [1, 2]}}, [])
    assert parts[0] == {"steps_completed": 1, "a": {"x": 1}}, "what the ranks gave stays as it is"


@pytest.mark.parametrize(
    ("first", "second", "clashes"),
    [
        ({"a": 1}, {"a": 2}, ["/a"]),
        ({"a": 1}, {"a": 1.0}, ["/a"]),
        ({"a": 1}, {"a": True}, ["/a"]),
        ({"a": {"b": {"c": 1, "d": 1}}}, {"a": {"b": {"c": 2, "d": 2}}}, ["/a/b/c", "/a/b/d"]),
        ({"a": {"b": 1}}, {"a": 1}, ["/a"]),
        ({"a": [1, 2]}, {"a": [2, 1]}, ["/a"]),
        ({"a": None}, {"a": 0}, ["/a"]),
    ],
)
def test_values_that_differ_are_named_by_their_paths(first: Any, second: Any, clashes: list[str]) -> None:
    assert merge_metadata([first, second])[1] == clashes
    assert merge_metadata([first, second, second, first])[1] == clashes, "each once"


def copies(value: Any) -> list[Any]:
    """Return the value as two ranks give it: equal, and not the same object."""
    return [{"value": value}, {"value": np.copy(value) if isinstance(value, np.ndarray) else value}]


@pytest.mark.parametrize(
    "value",
    [float("nan"), [1.0, float("nan")], float("inf"), np.float32(0.5), np.arange(3), np.array([math.nan]), (1, 2)],
    ids=["nan", "nan in a list", "infinity", "numpy number", "array", "array of nan", "tuple"],
)
def test_values_that_are_stored_alike_are_no_conflict(value: Any) -> None:
    first, second = copies(value)
    if isinstance(value, float):
        second = {"value": float(str(value))}
    elif isinstance(value, list):
        second = {"value": [float(str(item)) for item in value]}
    merged, clashes = merge_metadata([first, second])
    assert clashes == [] and merged["value"] is first["value"]


def test_arrays_that_differ_are_a_conflict() -> None:
    assert merge_metadata([{"a": np.arange(3)}, {"a": np.arange(4)}])[1] == ["/a"]
