"""The searcher's metric among those of a validation."""

from typing import Any

import numpy as np
import pytest

from determined.trial._searcher_metric import Goal


class _Best:
    def __init__(self, best: float | None) -> None:
        self.train = self
        self._best = best

    def get_experiment_best_validation(self) -> float | None:
        return self._best

    def _get_last_validation(self) -> int:
        return 10


def _context(best: float | None) -> Any:
    return _Best(best)


def test_the_result_is_the_searchers_metric() -> None:
    goal = Goal.of({"metric": "loss"})
    assert goal.result({"loss": np.float32(0.5), "accuracy": 1}) == 0.5


def test_several_metrics_are_told_by_name() -> None:
    goal = Goal.of({"metric": "loss", "metrics": [{"name": "loss"}, {"name": "size"}]})
    assert goal.result({"loss": 1.0, "size": 3, "other": 0}) == {"loss": 1.0, "size": 3.0}


def test_a_missing_metric_is_named_with_what_there_is() -> None:
    with pytest.raises(RuntimeError, match=r"'loss' is not among .*\['accuracy'\].*correct searcher.metric"):
        Goal.of({"metric": "loss"}).result({"accuracy": 1.0})


@pytest.mark.parametrize("value", ["low", [1.0], np.zeros(3), None, True])
def test_a_metric_that_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(RuntimeError, match="must give one number"):
        Goal.of({"metric": "loss"}).result({"loss": value})


def test_a_validation_without_the_metric_is_never_the_best_and_is_complained_of_afterwards() -> None:
    goal = Goal.of({"metric": "loss"})
    assert not goal.is_best({"accuracy": 1.0}, _context(None), 20)
    with pytest.raises(RuntimeError, match="'loss' is not among"):
        goal.check({"accuracy": 1.0})


@pytest.mark.parametrize(
    ("value", "best", "smaller", "expected"),
    [
        (1.0, None, True, True),
        (1.0, 2.0, True, True),
        (2.0, 2.0, True, False),
        (3.0, 2.0, False, True),
        (1.0, 2.0, False, False),
        (float("nan"), None, True, False),
        (1.0, float("nan"), True, True),
    ],
)
def test_best_is_strictly_better_than_all_before(
    value: float, best: float | None, smaller: bool, expected: bool
) -> None:
    goal = Goal(("loss",), smaller)
    assert goal.is_best({"loss": value}, _context(best), 20) is expected
