"""Pareto fronts and ranks, against the definition itself."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from determined.search.pareto import dominates, front, ranks

COORDINATES = st.integers(0, 6).map(float)


def ranks_by_definition(points: list[list[float]]) -> list[int]:
    left, found, rank = set(range(len(points))), [0] * len(points), 0
    while left:
        best = {p for p in left if not any(dominates(points[q], points[p]) for q in left)}
        for place in best:
            found[place] = rank
        left -= best
        rank += 1
    return found


def test_a_front_of_two_objectives() -> None:
    points = [[1.0, 5.0], [2.0, 4.0], [2.0, 6.0], [3.0, 3.0], [4.0, 4.0], [9.0, 9.0]]
    assert front(points) == [0, 1, 3]
    assert ranks(points) == [0, 0, 1, 0, 1, 2]


def test_equal_points_stand_together() -> None:
    assert ranks([[1.0, 1.0], [1.0, 1.0], [1.0, 2.0], [1.0, 2.0]]) == [0, 0, 1, 1]
    assert front([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]) == [0, 1]


def test_nothing_has_no_front() -> None:
    assert ranks([]) == []
    assert front([]) == []


def test_one_objective_is_a_ranking() -> None:
    assert ranks([[3.0], [1.0], [2.0], [1.0]]) == [2, 0, 1, 0]


@pytest.mark.parametrize("objectives", [1, 2, 3, 4])
def test_ranks_and_front_are_those_of_the_definition(objectives: int) -> None:
    @given(st.lists(st.lists(COORDINATES, min_size=objectives, max_size=objectives), max_size=25))
    def check(points: list[list[float]]) -> None:
        expected = ranks_by_definition(points)
        assert ranks(points) == expected
        assert front(points) == [place for place, rank in enumerate(expected) if rank == 0]

    check()


def test_a_hundred_thousand_points_of_two_objectives_are_ranked_at_once() -> None:
    rng = random.Random(0)
    points = [[x, 1 - x + rng.random()] for x in (rng.random() for _ in range(100_000))]
    began = time.process_time()
    assert min(ranks(points)) == 0
    assert time.process_time() - began < 10  # some 0.3 s; a quadratic method needs an hour
