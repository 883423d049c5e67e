"""How well early ranks predict late ones, and what chance a rank leaves."""

import math

import pytest

from determined.search.rank_correlation import chance_of_best, correlation, normal_score
from determined.search.rng import Rng


def normal(rng: Rng) -> float:
    return math.sqrt(-2 * math.log(1 - rng.uniform(0, 1))) * math.cos(2 * math.pi * rng.uniform(0, 1))


def pairs(rho: float, count: int, seed: int = 1) -> list[tuple[float, float]]:
    rng = Rng(seed)
    drawn = [(normal(rng), normal(rng)) for _ in range(count)]
    return [(x, rho * x + math.sqrt(1 - rho**2) * y) for x, y in drawn]


def test_normal_scores_are_even_and_the_best_is_positive() -> None:
    scores = [normal_score(place, 5) for place in range(5)]
    assert scores == sorted(scores, reverse=True)
    assert scores[2] == 0 and scores[0] == pytest.approx(-scores[4])


@pytest.mark.parametrize("rho", [-0.3, 0.0, 0.5, 0.9])
def test_correlation_is_found_among_all_trials(rho: float) -> None:
    assert correlation(pairs(rho, 4000), expected=0.5) == pytest.approx(rho, abs=0.05)


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9])
def test_correlation_is_corrected_where_only_the_best_went_on(rho: float) -> None:
    best = sorted(pairs(rho, 20_000), reverse=True)[:4000]
    assert correlation(best, expected=0.5) == pytest.approx(rho, abs=0.08)


@pytest.mark.parametrize("few", [[], [(1.0, 1.0)], [(0.0, 1.0)] * 5])
def test_nothing_to_compare_leaves_what_is_expected(few: list[tuple[float, float]]) -> None:
    assert correlation(few, expected=0.7) == 0.7


def test_chance_rises_with_the_rank_and_is_the_share_where_ranks_tell_nothing() -> None:
    assert chance_of_best(2.0, 0.0, 0.1) == pytest.approx(0.1)
    chances = [chance_of_best(score, 0.8, 0.1) for score in (-1, 0, 1, 2)]
    assert chances == sorted(chances)
    assert chances[0] < 0.01 and chances[-1] > 0.5
