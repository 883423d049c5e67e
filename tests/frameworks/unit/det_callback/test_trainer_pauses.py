"""A training that is paused at any step and gone on with ends as one that was left alone."""

from typing import Any

import pytest
import torch
from trainer_fits import Trained, train

CASES: dict[str, dict[str, Any]] = {
    "epochs": {},
    "steps": {"max_steps": 7, "eval_strategy": "steps", "eval_steps": 3, "save_strategy": "steps", "save_steps": 2},
    "accumulated gradients": {"gradient_accumulation_steps": 2, "num_train_epochs": 2},
}


@pytest.mark.parametrize("case", CASES)
def test_a_pause_changes_nothing(case: str, task: Any, runner: Any) -> None:
    arguments = CASES[case]
    alone = train(task, runner, **arguments)
    assert alone.validation and not alone.is_preempted
    for step in (1, 3, 5, 6):
        if step >= alone.steps:
            continue
        paused = train(task, runner, pause_in=step, **arguments)
        assert paused.is_preempted and paused.steps == step, f"paused in step {step}"
        resumed = train(task, runner, latest=paused.checkpoints[-1].uuid, **arguments)
        _same(alone, paused, resumed, f"paused in step {step}")


def test_a_trial_paused_in_its_last_step_has_nothing_left_to_do(task: Any, runner: Any) -> None:
    alone = train(task, runner, num_train_epochs=1)
    paused = train(task, runner, num_train_epochs=1, pause_in=5)
    assert paused.validation == alone.validation
    resumed = train(task, runner, num_train_epochs=1, latest=paused.checkpoints[-1].uuid)
    assert resumed.steps == 5 and not resumed.checkpoints and not resumed.validation
    assert not resumed.training, "of no steps there is no average"


def _same(alone: Trained, paused: Trained, resumed: Trained, when: str) -> None:
    assert resumed.steps == alone.steps, when
    assert paused.validation | resumed.validation == alone.validation, when
    assert not paused.validation.keys() & resumed.validation.keys(), when
    for name, value in alone.weights.items():
        assert torch.equal(value, resumed.weights[name]), f"{when}: {name}"
