"""A trial that goes on has its callbacks' counts, its best model and its end again."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from trainer_fits import make_arguments, train
from transformers import BertForSequenceClassification, EarlyStoppingCallback

from determined import core
from determined.transformers import DetCallback

STANDING_STILL = {"learning_rate": 0.0, "metric_for_best_model": "loss"}  # no evaluation is better than the first


def test_early_stopping_counts_on_after_a_pause(task: Any, runner: Any) -> None:
    def patient() -> dict[str, Any]:
        beside = ([EarlyStoppingCallback(early_stopping_patience=2)], [])
        return {"beside": beside, "num_train_epochs": 6, "save_strategy": "epoch", **STANDING_STILL}

    alone = train(task, runner, **patient())
    assert alone.steps == 15
    paused = train(task, runner, pause_in=12, **patient())
    resumed = train(task, runner, latest=paused.checkpoints[-1].uuid, **patient())
    assert paused.is_preempted and resumed.steps == 15


@pytest.mark.parametrize("pause_in", [7, 10])
def test_the_best_model_is_found_after_a_pause(pause_in: int, task: Any, runner: Any, tmp_path: Path) -> None:
    best = {"load_best_model_at_end": True, "save_strategy": "epoch", "save_total_limit": 1}
    alone = train(task, runner, **best)
    assert min(alone.validation, key=lambda step: alone.validation[step]["eval_loss"]) == 5
    paused = train(task, runner, pause_in=pause_in, output_dir=str(tmp_path / "first"), **best)
    latest = paused.checkpoints[-1]
    assert "checkpoint-5/model.safetensors" in latest.resources
    assert "checkpoint-5/optimizer.pt" not in latest.resources, "nobody goes on from there"
    resumed = train(task, runner, latest=latest.uuid, output_dir=str(tmp_path / "second"), **best)
    _same_weights(alone, resumed)


@pytest.mark.parametrize("pause_in", [3, 10])
def test_a_strategy_that_saves_the_best_alone_also_saves_a_pause(pause_in: int, task: Any, runner: Any) -> None:
    best = {"save_strategy": "best", "num_train_epochs": 3, **STANDING_STILL}
    paused = train(task, runner, pause_in=pause_in, **best)
    assert paused.checkpoints[-1].steps == pause_in
    resumed = train(task, runner, latest=paused.checkpoints[-1].uuid, **best)
    assert resumed.steps == 15 and resumed.checkpoints[-1].steps == 15
    assert not paused.validation.keys() & resumed.validation.keys()


def test_a_script_that_does_not_go_on_where_its_trial_was_is_warned(
    task: Any, runner: Any, caplog: pytest.LogCaptureFixture
) -> None:
    paused = train(task, runner, pause_in=3)
    assert "trainer.train(resume_from_checkpoint=args.resume_from_checkpoint)" not in caplog.text
    again = train(task, runner, max_steps=1, latest=paused.checkpoints[-1].uuid, is_resumed=False)
    assert again.steps == 1
    assert "trainer.train(resume_from_checkpoint=args.resume_from_checkpoint)" in caplog.text


def test_a_trial_that_is_done_learns_nothing_more(task: Any, runner: Any, master: Any) -> None:
    searcher = {"name": "single", "metric": "eval_loss", "max_length": {"epochs": 3}}
    source = train(task, runner, num_train_epochs=1, lr_scheduler_type="constant")
    done = {"op": {"validateAfter": {"length": "1"}}, "completed": True}
    master.routes[("GET", "/api/v1/trials/7/searcher/operation")] = done
    latest = source.checkpoints[-1].uuid
    evaluate = {"then": lambda trainer: trainer.evaluate()}
    again = train(task, runner, searcher=searcher, latest=latest, lr_scheduler_type="constant", **evaluate)
    _same_weights(source, again)
    assert again.steps == 5 and not again.validation


def test_what_a_script_evaluates_first_is_reported_once(task: Any, runner: Any) -> None:
    def evaluate(trainer: Any) -> None:
        trainer.evaluate()

    begun = train(task, runner, first=evaluate, pause_in=3)
    assert set(begun.validation) == {0}
    resumed = train(task, runner, first=evaluate, latest=begun.checkpoints[-1].uuid)
    assert set(resumed.validation) == {5, 10, 15}


def test_a_checkpoint_that_no_trainer_saved_is_named(task: Any, runner: Any, tmp_path: Path) -> None:
    task()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "weights").write_text("1")
    with core.init() as core_context:
        other = core_context.checkpoint.upload(tmp_path / "other", {"steps_completed": 5})
    with pytest.raises(ValueError, match=rf"{other} has no checkpoint-5"):
        train(task, runner, latest=other)


def test_data_that_is_no_json_is_refused_at_once(task: Any) -> None:
    task()
    with core.init() as core_context, pytest.raises(TypeError, match="user_data"):
        DetCallback(core_context, make_arguments(), user_data={"labels": {1, 2}})


def test_a_checkpoint_is_read_by_plain_calls(task: Any, runner: Any, tmp_path: Path) -> None:
    trained = train(task, runner, max_steps=2)
    stored = tmp_path / "checkpoints" / trained.checkpoints[-1].uuid / "checkpoint-2"
    weights = BertForSequenceClassification.from_pretrained(stored).state_dict()
    assert all(torch.equal(weights[name], value) for name, value in trained.weights.items())
    assert json.loads((stored / "trainer_state.json").read_text())["global_step"] == 2


def _same_weights(one: Any, other: Any) -> None:
    for name, value in one.weights.items():
        assert torch.equal(value, other.weights[name]), name
