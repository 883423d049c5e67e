"""Test the callback: reports, checkpoints it saves and loads, what it tells a searcher."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from keras_fits import IS_KERAS_3, fit

from determined.errors import CheckpointStateException, InvalidExperimentException
from determined.keras import DeterminedCallback, TensorBoard

CLASSIC = {"name": "single", "metric": "val_loss", "max_length": {"epochs": 4}}


def test_metrics_are_reported_after_each_epoch(task: Any, runner: Any) -> None:
    fitted = fit(task, runner, epochs=2)
    assert sorted(fitted.training) == sorted(fitted.validation) == [5, 10]
    assert set(fitted.training[10]) == {"loss", "mae", "batches", "epochs"}
    assert set(fitted.validation[10]) == {"val_loss", "val_mae", "batches", "epochs"}
    assert (fitted.validation[10]["batches"], fitted.validation[10]["epochs"]) == (10, 2)


def test_metrics_are_reported_every_so_many_batches(task: Any, runner: Any) -> None:
    fitted = fit(task, runner, epochs=2, train_metrics_report_period=4)
    assert sorted(fitted.training) == [4, 8]
    assert fitted.training[8]["epochs"] == pytest.approx(1.6)


def test_a_searchers_metric_may_lack_the_prefix(task: Any, runner: Any) -> None:
    fitted = fit(task, runner, epochs=1, searcher={"name": "single", "metric": "mae"})
    assert fitted.validation[5]["mae"] == fitted.validation[5]["val_mae"]


@pytest.mark.parametrize(("period", "saved"), [(1, [5, 10, 15]), (2, [10, 15]), (0, [15])])
def test_checkpoints_are_saved_every_so_many_epochs_and_at_the_end(
    period: int, saved: list[int], task: Any, runner: Any
) -> None:
    fitted = fit(task, runner, epochs=3, checkpoint_epochs=period)
    assert [checkpoint.steps for checkpoint in fitted.checkpoints] == saved


def test_a_checkpoint_holds_weights_state_and_code(task: Any, runner: Any) -> None:
    Path("model_def.py").write_text("width = 4\n")
    (checkpoint,) = fit(task, runner, epochs=1).checkpoints
    names = set(checkpoint.resources)
    assert {"callback_state", "code/", "code/model_def.py"} <= names
    assert ("model_checkpoint.weights.h5" if IS_KERAS_3 else "model_checkpoint.index") in names
    assert checkpoint.metadata["framework"].startswith("keras-")


def test_a_checkpoint_of_another_trial_gives_its_weights_alone(task: Any, runner: Any) -> None:
    source = fit(task, runner, epochs=2)
    other = fit(
        task, runner, epochs=1, latest=source.checkpoints[-1].uuid, continue_id=8, learning_rate=1e-30, validates=False
    )
    assert other.epochs == [0] and other.checkpoints[-1].steps == 5
    assert other.learning_rate == pytest.approx(1e-30)
    for one, another in zip(source.weights, other.weights, strict=True):
        np.testing.assert_allclose(one, another, rtol=1e-6)


def test_a_directory_without_weights_is_named(task: Any, runner: Any, tmp_path: Path) -> None:
    (checkpoint,) = fit(task, runner, epochs=1).checkpoints
    for file in (tmp_path / "checkpoints" / checkpoint.uuid).glob("*model_checkpoint*"):
        file.unlink()
    with pytest.raises(Exception, match="model_checkpoint") as caught:
        fit(task, runner, latest=checkpoint.uuid)
    assert isinstance(caught.value, CheckpointStateException) or "manifest" in str(caught.value)


def test_a_checkpoint_of_something_else_is_told_from_ours(task: Any, runner: Any, tmp_path: Path) -> None:
    from determined import core

    task(searcher={"name": "single", "metric": "val_loss"})
    with core.init() as core_context, core_context.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
        (path / "weights").write_text("a")
    with pytest.raises(CheckpointStateException, match=r"not saved by keras\.DeterminedCallback"):
        fit(task, runner, latest=uuid)


def test_a_fit_shorter_than_the_searcher_asks_for_is_warned_of(
    task: Any, runner: Any, master: Any, caplog: pytest.LogCaptureFixture
) -> None:
    _drive(master, runner, [1, 3])
    fit(task, runner, searcher=CLASSIC, epochs=2)
    assert "fit has ended after 2 epochs, and the searcher asks for Epoch(3)" in caplog.text


def test_operations_decide_how_long_to_train(task: Any, runner: Any, master: Any) -> None:
    told = _drive(master, runner, [1, 3])
    fitted = fit(task, runner, searcher=CLASSIC, epochs=9)
    assert fitted.epochs == [0, 1, 2]
    assert [metric for metric, _ in told] == [fitted.validation[5]["val_loss"], fitted.validation[15]["val_loss"]]
    assert [saved for _, saved in told] == [1, 3], "the searcher hears of a state that is saved"


def test_a_trial_killed_before_it_told_the_searcher_tells_it_then(task: Any, runner: Any, master: Any) -> None:
    source = fit(task, runner, epochs=2)
    told = _drive(master, runner, [2])
    resumed = fit(task, runner, searcher=CLASSIC, epochs=9, latest=source.checkpoints[-1].uuid)
    assert resumed.epochs == [] and [metric for metric, _ in told] == [source.validation[10]["val_loss"]]


def test_an_operation_without_a_validation_is_refused(task: Any, runner: Any, master: Any) -> None:
    _drive(master, runner, [1])
    with pytest.raises(InvalidExperimentException, match="validation_data"):
        fit(task, runner, searcher=CLASSIC, validates=False)


@pytest.mark.parametrize(("verbose", "tenths", "ends"), [(0, 0, 0), (1, 4, 1), (2, 0, 1)])
def test_verbose_says_how_many_lines_an_epoch_has(
    verbose: int, tenths: int, ends: int, task: Any, runner: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    fit(task, runner, epochs=1, verbose=verbose)
    lines = capfd.readouterr().out.splitlines()
    assert sum("/5 batches)" in line for line in lines) == tenths
    assert sum(line.startswith("epoch 1/1: done (5 batches)") for line in lines) == ends


def test_event_files_lie_where_the_platform_looks(task: Any, runner: Any, run_dir: Any, tmp_path: Path) -> None:
    fit(task, runner, epochs=1, others=(_Board,))
    written = [path for path in (run_dir.path / "tensorboard").rglob("*tfevents*") if path.stat().st_size > 100]
    assert {path.parent.name for path in written} >= {"train", "validation"}
    assert not (tmp_path / "work" / "elsewhere").exists()
    assert list((tmp_path / "checkpoints").rglob("train/*tfevents*")), "and are copied to the storage"


@pytest.mark.parametrize("option", [{"train_metrics_report_period": 0}, {"train_metrics_report_period": "batch"},
                                    {"checkpoint_epochs": -1}])  # fmt: skip
def test_options_that_make_no_sense_are_refused(option: dict[str, Any], off_cluster: Path) -> None:
    from determined import core

    with core.init() as core_context, pytest.raises(ValueError, match=next(iter(option))):
        DeterminedCallback(core_context, None, 1, **option)


class _Board(TensorBoard):
    def __init__(self, core_context: Any) -> None:
        super().__init__(core_context, log_dir="elsewhere")


def _drive(master: Any, runner: Any, lengths: list[int]) -> list[tuple[float, int]]:
    """A searcher that wants each of `lengths` in turn; the metrics it got, and how many checkpoints there were then."""
    from determined.wire.report import CheckpointReport

    told: list[tuple[float, int]] = []
    before = len([record for record in runner.records if isinstance(record, CheckpointReport)])

    def operation(_body: Any) -> tuple[int, Any]:
        is_done = len(told) == len(lengths)
        length = lengths[-1] if is_done else lengths[len(told)]
        return 200, {"op": {"validateAfter": {"length": str(length)}}, "completed": is_done}

    def completed(body: Any) -> tuple[int, Any]:
        saved = len([record for record in runner.records if isinstance(record, CheckpointReport)]) - before
        told.append((body["searcherMetric"], saved))
        return 200, {}

    master.routes[("GET", "/api/v1/trials/7/searcher/operation")] = operation
    master.routes[("POST", "/api/v1/trials/7/searcher/completed_operation")] = completed
    return told
