"""Test when a validation is reported, with what beside it, and where in the order of checkpoints."""

from typing import Any

import pytest
from trainer_fits import Records, train
from transformers import EarlyStoppingCallback

from determined.wire.report import CheckpointReport, MetricReport

SECOND = {"name": "single", "metric": "eval_second_loss"}


def test_several_evaluation_datasets_are_one_validation(task: Any, runner: Any) -> None:
    held_out = {"first": Records(8, 2), "second": Records(8, 3)}
    trained = train(task, runner, num_train_epochs=1, searcher=SECOND, held_out=held_out)
    (report,) = _validations(trained.told)
    assert set(report.metrics) == {"eval_first_loss", "eval_second_loss", "batches", "epochs"}


def test_what_a_script_evaluates_afterwards_has_what_the_searcher_needs_beside_it(task: Any, runner: Any) -> None:
    def evaluate(trainer: Any) -> None:
        trainer.evaluate()
        trainer.evaluate(Records(8, 4), metric_key_prefix="eval_other")

    trained = train(task, runner, num_train_epochs=1, then=evaluate)
    first, other = _validations(trained.told)
    assert set(other.metrics) == {"eval_other_loss", "eval_loss", "batches", "epochs"}
    assert other.metrics["eval_loss"] == first.metrics["eval_loss"]


def test_a_script_that_alone_evaluates_is_heard(task: Any, runner: Any) -> None:
    trained = train(task, runner, max_steps=2, eval_strategy="no", then=lambda trainer: trainer.evaluate())
    assert set(trained.validation) == {2} and "eval_loss" in trained.validation[2]


def test_what_a_script_evaluates_after_a_pause_is_not_reported(task: Any, runner: Any) -> None:
    paused = train(task, runner, pause_in=3, then=lambda trainer: trainer.evaluate())
    assert paused.is_preempted and not paused.validation


def test_the_last_step_is_saved_after_its_validation(task: Any, runner: Any) -> None:
    """A trial killed between the two would go on at its end and never validate it."""
    steps = {"save_strategy": "steps", "save_steps": 5, "eval_strategy": "epoch"}
    trained = train(task, runner, num_train_epochs=2, **steps)
    kinds = [type(record) for record in trained.told if type(record) is CheckpointReport or _is_validation(record)]
    assert kinds == [MetricReport, CheckpointReport] * 2


def test_a_paused_training_reports_what_it_averaged_beside_its_tokens(task: Any, runner: Any) -> None:
    paused = train(task, runner, pause_in=3, include_num_input_tokens_seen="all", logging_steps=10)
    assert "loss" in paused.training[3]


@pytest.mark.parametrize("after", [False, True])
def test_a_training_that_is_stopped_early_is_saved(
    after: bool, task: Any, runner: Any, caplog: pytest.LogCaptureFixture
) -> None:
    stopping = [EarlyStoppingCallback(early_stopping_patience=1)]
    beside = ([], stopping) if after else (stopping, [])
    best = {"metric_for_best_model": "loss", "learning_rate": 0.0}
    trained = train(task, runner, beside=beside, num_train_epochs=4, save_strategy="no", **best)
    assert trained.steps == 10
    if after:
        assert not trained.checkpoints and "make DetCallback the last of them" in caplog.text
    else:
        assert [checkpoint.steps for checkpoint in trained.checkpoints] == [10]
        assert "make DetCallback the last of them" not in caplog.text


def _validations(told: list[Any]) -> list[MetricReport]:
    return [record for record in told if _is_validation(record)]


def _is_validation(record: Any) -> bool:
    return isinstance(record, MetricReport) and record.group == "validation"
