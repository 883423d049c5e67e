"""A fit that is paused in any epoch and gone on with ends as one that was left alone."""

from typing import Any

import numpy as np
import pytest
from keras_fits import Fitted, fit

pytestmark = pytest.mark.timeout(500)  # seven fits, each of which traces graphs anew


@pytest.mark.parametrize("data", ["arrays", "dataset", "endless dataset"])
def test_a_pause_changes_nothing(data: str, task: Any, runner: Any) -> None:
    alone = fit(task, runner, data=data)
    assert not alone.is_preempted
    for epoch in range(3):
        paused = fit(task, runner, data=data, pause_in=epoch)
        assert paused.is_preempted and paused.epochs == list(range(epoch + 1))
        resumed = fit(task, runner, data=data, latest=paused.checkpoints[-1].uuid)
        assert resumed.epochs == list(range(epoch + 1, 4))
        _same(alone, paused, resumed)


@pytest.mark.parametrize("data", ["arrays", "dataset", "endless dataset"])
def test_a_pause_changes_nothing_where_a_strategy_spreads_the_data(data: str, task: Any, runner: Any) -> None:
    alone = fit(task, runner, data=data, epochs=3, is_mirrored=True)
    paused = fit(task, runner, data=data, epochs=3, pause_in=1, is_mirrored=True)
    resumed = fit(task, runner, data=data, epochs=3, latest=paused.checkpoints[-1].uuid, is_mirrored=True)
    _same(alone, paused, resumed)


def test_two_pauses_change_nothing(task: Any, runner: Any) -> None:
    alone = fit(task, runner)
    first = fit(task, runner, pause_in=0)
    second = fit(task, runner, pause_in=2, latest=first.checkpoints[-1].uuid)
    resumed = fit(task, runner, latest=second.checkpoints[-1].uuid)
    for one, other in zip(alone.weights, resumed.weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_trial_paused_in_its_last_epoch_has_nothing_left_to_do(task: Any, runner: Any) -> None:
    paused = fit(task, runner, epochs=2, pause_in=1)
    resumed = fit(task, runner, epochs=2, latest=paused.checkpoints[-1].uuid)
    assert resumed.epochs == [] and not resumed.checkpoints and not resumed.validation


def _same(alone: Fitted, paused: Fitted, resumed: Fitted) -> None:
    assert paused.validation | resumed.validation == alone.validation
    assert paused.training | resumed.training == alone.training
    for one, other in zip(alone.weights, resumed.weights, strict=True):
        np.testing.assert_array_equal(one, other)
