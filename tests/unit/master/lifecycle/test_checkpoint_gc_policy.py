"""The vector of the specification, and ties."""

import pytest

from determined.master.lifecycle.checkpoint_gc_policy import Candidate, Keep, select_kept

VECTOR = [
    Candidate("1", 1, 1),
    Candidate("2", 1, 2),
    Candidate("3", 1, 3, 0.6),
    Candidate("4", 1, 4, 0.5),
    Candidate("5", 1, 5, 0.4),
    Candidate("6", 2, 1),
    Candidate("7", 2, 2, 0.2),
    Candidate("8", 2, 3, 0.3),
    Candidate("9", 2, 4),
    Candidate("10", 2, 5),
]


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ((0, 0, 0), ""),
        ((2, 0, 0), "7 8"),
        ((0, 1, 0), "5 7"),
        ((0, 0, 1), "5 10"),
        ((0, 0, 3), "3 4 5 8 9 10"),
        ((2, 0, 1), "5 7 8 10"),
        ((0, 1, 1), "5 7 10"),
        ((2, 1, 1), "5 7 8 10"),
    ],
)
def test_the_policy_keeps_what_the_specification_says(keep: tuple[int, int, int], kept: str) -> None:
    assert select_kept(VECTOR, Keep(*keep), smaller_is_better=True) == set(kept.split())


def test_larger_is_better_turns_the_order_around() -> None:
    assert select_kept(VECTOR, Keep(1, 0, 0), smaller_is_better=False) == {"3"}


def test_of_equal_metrics_the_earlier_validation_is_kept() -> None:
    tied = [Candidate("late", 1, 1, 0.5, validated_at=20.0), Candidate("early", 1, 2, 0.5, validated_at=10.0)]
    assert select_kept(tied, Keep(0, 1, 0), smaller_is_better=True) == {"early"}


def test_a_metric_that_is_not_a_number_is_never_best() -> None:
    odd = [Candidate("nan", 1, 1, float("nan")), Candidate("worst", 1, 2, 9e9)]
    assert select_kept(odd, Keep(2, 2, 0), smaller_is_better=True) == {"worst"}


def test_no_checkpoints_keep_nothing() -> None:
    assert select_kept([], Keep(3, 3, 3), smaller_is_better=True) == set()
