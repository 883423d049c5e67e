"""Hyperparameter importance over trials whose causes are known."""

import math
import random
from typing import Any

import pytest

from determined.search.importance import MIN_TRIALS, importance

SPACE: dict[str, Any] = {
    "noise": {"type": "int", "minval": 0, "maxval": 9},
    "optimizer": {
        "lr": {"type": "log", "base": 10, "minval": -4, "maxval": 0},
        "kind": {"type": "categorical", "vals": ["sgd", None, {"adam": 1}]},
    },
    "depth": 3,
}


def trials(count: int, seed: int = 0) -> list[tuple[dict[str, Any], float]]:
    """The learning rate decides, the kind a little, the noise not at all."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        lr, kind = 10 ** rng.uniform(-4, 0), rng.choice(["sgd", None, {"adam": 1}])
        hparams = {"noise": rng.randrange(10), "optimizer": {"lr": lr, "kind": kind}, "depth": 3}
        made.append((hparams, (math.log10(lr) + 2) ** 2 + (0.5 if kind is None else 0.0)))
    return made


@pytest.mark.parametrize("seed", range(3))
def test_the_hyperparameter_that_decides_comes_first(seed: int) -> None:
    found = importance(SPACE, trials(100, seed))
    assert next(iter(found.shares)) == "optimizer.lr"
    assert found.shares["optimizer.lr"] > 0.5
    assert sum(found.shares.values()) == pytest.approx(1)
    assert set(found.shares) == {"noise", "optimizer.lr", "optimizer.kind"}
    assert (found.trials, found.why_not) == (100, "")


def test_equal_trials_give_equal_numbers() -> None:
    assert importance(SPACE, trials(60)) == importance(SPACE, trials(60))


def test_too_few_trials_say_so() -> None:
    found = importance(SPACE, trials(MIN_TRIALS - 1))
    assert (found.shares, found.trials) == ({}, 9)
    assert found.why_not == "needs at least 10 completed trials with this metric, and has 9"
    assert importance(SPACE, trials(MIN_TRIALS)).shares


def test_nothing_is_said_where_nothing_differs() -> None:
    same = [(hparams, 1.0) for hparams, _ in trials(20)]
    assert importance(SPACE, same).why_not == "every trial has the same result"
    assert importance({"depth": 3}, [({"depth": 3}, float(n)) for n in range(20)]).why_not == "no hyperparameter varies"


def test_trials_of_another_space_are_left_out() -> None:
    strangers = [({"noise": 1}, 0.0), ({"noise": 1, "optimizer": {"lr": 0.1, "kind": "rmsprop"}}, 0.0)]
    assert importance(SPACE, [*trials(50), *strangers]) == importance(SPACE, trials(50))
