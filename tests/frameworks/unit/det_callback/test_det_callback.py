"""Test the callback: reports, checkpoints it stores and fetches, what it tells a searcher."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from trainer_fits import make_arguments, train
from transformers import EarlyStoppingCallback

from determined import core
from determined.transformers import DetCallback
from determined.transformers._logs import chosen, group_of
from determined.wire.report import Progress

CLASSIC = {"name": "single", "metric": "eval_loss", "max_length": {"epochs": 3}}
LATE = {"name": "single", "metric": "eval_loss", "max_length": {"epochs": 3}, "time_metric": "epochs", "max_time": 3}


def test_what_is_logged_is_reported(task: Any, runner: Any) -> None:
    trained = train(task, runner, num_train_epochs=2)
    assert sorted(trained.training) == [2, 4, 6, 8, 10]
    assert sorted(trained.validation) == [5, 10]
    assert set(trained.validation[10]) == {"eval_loss", "batches", "epochs"}
    assert {"loss", "learning_rate", "batches", "epochs"} <= set(trained.training[4])
    assert trained.validation[10]["batches"] == 10 and trained.validation[10]["epochs"] == 2


def test_the_end_is_validated_and_saved_whatever_the_strategies(task: Any, runner: Any) -> None:
    trained = train(task, runner, max_steps=7, eval_strategy="epoch", save_strategy="no")
    assert sorted(trained.validation) == [5, 7]
    assert [checkpoint.steps for checkpoint in trained.checkpoints] == [7]


def test_nothing_is_saved_or_validated_twice_at_the_end(task: Any, runner: Any) -> None:
    steps = {"eval_strategy": "steps", "eval_steps": 5, "save_strategy": "steps", "save_steps": 5}
    trained = train(task, runner, num_train_epochs=2, **steps)
    assert [checkpoint.steps for checkpoint in trained.checkpoints] == [5, 10]


def test_a_checkpoint_holds_what_the_trainer_saved_and_the_users_data(task: Any, runner: Any, tmp_path: Path) -> None:
    trained = train(task, runner, max_steps=2, options={"user_data": {"labels": ["a", "b"]}})
    (checkpoint,) = trained.checkpoints
    assert {"checkpoint-2/model.safetensors", "checkpoint-2/trainer_state.json"} <= set(checkpoint.resources)
    assert checkpoint.metadata["trial_id"] == 7 and checkpoint.metadata["steps_completed"] == 2
    stored = tmp_path / "checkpoints" / checkpoint.uuid / "checkpoint-2" / "my_data.json"
    assert json.loads(stored.read_text()) == {"labels": ["a", "b"]}


def test_a_checkpoint_of_another_trial_gives_its_weights_alone(task: Any, runner: Any, tmp_path: Path) -> None:
    source = train(task, runner, num_train_epochs=1)
    other = _of_another_trial(source.checkpoints[-1].uuid, task, tmp_path)
    begun = train(task, runner, max_steps=1, learning_rate=0.0, latest=other, eval_strategy="no")
    assert begun.steps == 1
    for name, value in source.weights.items():
        assert torch.equal(value, begun.weights[name]), name


def test_a_trial_may_have_callbacks_that_the_one_whose_weights_it_takes_had_not(
    task: Any, runner: Any, tmp_path: Path
) -> None:
    source = train(task, runner, num_train_epochs=1)
    other = _of_another_trial(source.checkpoints[-1].uuid, task, tmp_path)
    stopping = EarlyStoppingCallback(early_stopping_patience=1)
    begun = train(task, runner, max_steps=1, latest=other, beside=([stopping], []), metric_for_best_model="loss")
    assert [checkpoint.steps for checkpoint in begun.checkpoints] == [1]


def test_filtered_metrics_keep_what_the_searcher_needs(task: Any, runner: Any) -> None:
    trained = train(task, runner, max_steps=2, options={"filter_metrics": ["grad"]})
    assert set(trained.training[2]) == {"grad_norm", "batches", "epochs"}
    assert set(trained.validation[2]) == {"eval_loss", "batches", "epochs"}


def test_operations_decide_how_long_to_train(task: Any, runner: Any, master: Any) -> None:
    told = _drive(master, [1, 2])
    trained = train(task, runner, searcher=CLASSIC)
    assert trained.steps == 10
    assert told == [trained.validation[5]["eval_loss"], trained.validation[10]["eval_loss"]]
    assert [checkpoint.steps for checkpoint in trained.checkpoints] == [5, 10]
    progress = [record.value for record in runner.records if isinstance(record, Progress)]
    assert progress == sorted(progress) and progress[-1] == 2, "in epochs, as the searcher counts"


def test_operations_that_count_batches_end_within_an_epoch(task: Any, runner: Any, master: Any) -> None:
    told = _drive(master, [3, 7])
    searcher = {**CLASSIC, "max_length": {"batches": 7}}
    trained = train(task, runner, searcher=searcher, max_steps=9)
    assert trained.steps == 7
    assert told == [trained.validation[3]["eval_loss"], trained.validation[7]["eval_loss"]]


def test_a_trial_killed_before_it_told_the_searcher_tells_it_then(task: Any, runner: Any, master: Any) -> None:
    source = train(task, runner, num_train_epochs=1)
    told = _drive(master, [1])
    resumed = train(task, runner, searcher=CLASSIC, latest=source.checkpoints[-1].uuid)
    assert told == [source.validation[5]["eval_loss"]]
    assert not resumed.checkpoints and not resumed.validation


def test_a_search_that_hears_of_no_validation_is_warned(
    task: Any, runner: Any, caplog: pytest.LogCaptureFixture
) -> None:
    asha = {"name": "adaptive_asha", "metric": "eval_loss", "time_metric": "batches", "max_time": 1, "max_trials": 2}
    train(task, runner, searcher=asha, max_steps=1)
    assert 'eval_strategy is "no"' not in caplog.text
    train(task, runner, searcher=asha, max_steps=1, eval_strategy="no")
    assert 'eval_strategy is "no"' in caplog.text


def test_checkpoints_without_an_optimizer_are_warned_of(
    task: Any, runner: Any, caplog: pytest.LogCaptureFixture
) -> None:
    train(task, runner, max_steps=1, save_only_model=True)
    assert "save_only_model" in caplog.text


def test_an_operation_is_saved_though_the_strategy_saves_the_best_alone(task: Any, runner: Any, master: Any) -> None:
    _drive(master, [1, 2])
    best = {"save_strategy": "best", "metric_for_best_model": "loss", "learning_rate": 0.0}
    trained = train(task, runner, searcher=CLASSIC, **best)
    assert [checkpoint.steps for checkpoint in trained.checkpoints] == [5, 10]


def test_each_of_several_metrics_must_be_there(task: Any, runner: Any) -> None:
    searcher = {"name": "random", "metric": "eval_loss", "metrics": [{"name": "eval_loss"}, {"name": "eval_f1"}]}
    with pytest.raises(ValueError, match="has no eval_f1, which"):
        train(task, runner, max_steps=2, searcher=searcher)


def test_another_length_than_the_configs_is_refused(task: Any, runner: Any) -> None:
    with pytest.raises(ValueError, match=r"num_train_epochs=3$"):
        train(task, runner, searcher=LATE, num_train_epochs=2)
    with pytest.raises(ValueError, match="num_train_epochs=3 without max_steps"):
        train(task, runner, searcher=LATE, num_train_epochs=3, max_steps=15)


@pytest.mark.parametrize(
    ("length", "word"),
    [
        ({"num_train_epochs": 4}, "num_train_epochs=3: the searcher stops the training, but the learning rate follows"),
        ({"num_train_epochs": 2}, "num_train_epochs=3: the script ends before the searcher's operations do"),
        ({"max_steps": 6}, "goes before it: if that is less, the searcher stops the training"),
    ],
)
def test_where_operations_decide_another_length_is_only_told(
    length: dict[str, int], word: str, task: Any, runner: Any, master: Any, caplog: pytest.LogCaptureFixture
) -> None:
    _drive(master, [1])
    train(task, runner, searcher=CLASSIC, **length)
    assert word in caplog.text


def test_off_cluster_there_is_nothing_to_connect_to(off_cluster: Path) -> None:
    with core.init() as core_context, pytest.raises(RuntimeError, match="needs a trial on a cluster"):
        DetCallback(core_context, make_arguments())


def test_a_log_is_of_the_group_that_its_names_tell() -> None:
    assert group_of({"eval_loss": 1.0, "epoch": 1}) == "validation"
    assert group_of({"test_loss": 1.0}) == "test"
    assert group_of({"loss": 1.0}) == "training"


def test_times_and_the_epoch_are_no_metrics() -> None:
    logs = {"loss": 1.0, "epoch": 1, "train_runtime": 2.0, "eval_samples_per_second": 3.0, "x_compilation_time": 4.0}
    assert chosen(logs, None, ()) == {"loss": 1.0}


def _of_another_trial(storage_id: str, task: Any, tmp_path: Path) -> str:
    """The same checkpoint, as trial 6 would have stored it."""
    task()
    with core.init() as core_context:
        core_context.checkpoint.download(storage_id, tmp_path / "copy")
        return core_context.checkpoint.upload(tmp_path / "copy", {"steps_completed": 5, "trial_id": 6})


def _drive(master: Any, lengths: list[int]) -> list[float]:
    """A searcher that wants each of `lengths` in turn; the metrics it got."""
    told: list[float] = []

    def operation(_body: Any) -> tuple[int, Any]:
        is_done = len(told) == len(lengths)
        length = lengths[-1] if is_done else lengths[len(told)]
        return 200, {"op": {"validateAfter": {"length": str(length)}}, "completed": is_done}

    def completed(body: Any) -> tuple[int, Any]:
        told.append(body["searcherMetric"])
        return 200, {}

    master.routes[("GET", "/api/v1/trials/7/searcher/operation")] = operation
    master.routes[("POST", "/api/v1/trials/7/searcher/completed_operation")] = completed
    return told
