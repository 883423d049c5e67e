"""Length of a fit: by the searcher's operations where the master hands them out, else by script or config."""

from typing import Any

import lightning.pytorch as L
import pytest
from fits import Net, fit, noisy_loader, stream_loader
from task_around import Operations

from determined import lightning as det_lightning
from determined.errors import InvalidExperimentException
from determined.trial import Batch
from determined.wire.report import PreemptAck, Progress

CLASSIC = {"name": "adaptive_asha", "metric": "val_loss", "max_length": {"batches": 12}, "max_trials": 2}
LATE = {"name": "single", "metric": "val_loss", "max_time": 4, "time_metric": "epochs"}


def test_operations_end_a_fit_in_the_middle_of_an_epoch(task: Any, runner: Any, master: Any) -> None:
    operations = Operations(master, 3, 7)
    fitted = fit(task, runner, searcher=CLASSIC)
    assert [length for length, _ in operations.completed] == [3, 7]
    assert fitted.counts["ended"] == 7
    assert sorted(fitted.validation) == [3, 5, 7]
    assert operations.completed[0][1] == pytest.approx(fitted.validation[3]["val_loss"])
    assert operations.completed[1][1] == pytest.approx(fitted.validation[7]["val_loss"])
    assert any(isinstance(record, PreemptAck) for record in runner.records)
    assert any(isinstance(record, Progress) for record in runner.records)


def test_a_promoted_trial_goes_on_where_it_ended(task: Any, runner: Any, master: Any) -> None:
    Operations(master, 3, 7)
    alone = fit(task, runner, searcher=CLASSIC)
    Operations(master, 3)
    first = fit(task, runner, searcher=CLASSIC)
    promoted = Operations(master, 7)
    second = fit(task, runner, searcher=CLASSIC, latest=first.checkpoints[-1])
    assert [length for length, _ in promoted.completed] == [7]
    assert second.weights == alone.weights
    assert {**first.validation, **second.validation} == alone.validation


def test_a_trial_killed_between_its_checkpoint_and_its_answer_gives_the_answer(
    task: Any, runner: Any, master: Any
) -> None:
    Operations(master, 3)
    first = fit(task, runner, searcher=CLASSIC)
    again = Operations(master, 3)
    second = fit(task, runner, searcher=CLASSIC, latest=first.checkpoints[-1])
    assert again.completed == [(3, pytest.approx(first.validation[3]["val_loss"]))]
    assert second.counts == first.counts
    assert not second.validation


def test_the_config_says_how_long_to_train_where_the_script_does_not(task: Any, runner: Any) -> None:
    task(searcher=LATE)
    with det_lightning.init() as context:
        assert context.trainer_kwargs()["max_epochs"] == 4
        assert context.trainer_kwargs(max_epochs=2)["max_epochs"] == 2
        assert "max_epochs" not in context.trainer_kwargs(max_steps=5)
    task(searcher={**LATE, "time_metric": "batches"})
    with det_lightning.init() as context:
        limits = context.trainer_kwargs()
        assert (limits["max_epochs"], limits.get("max_steps")) == (-1, None)
        assert context.search._length == Batch(4)
    task(searcher={"name": "single", "metric": "val_loss"})
    with det_lightning.init() as context, pytest.raises(ValueError, match="pass max_epochs=n"):
        context.trainer_kwargs()


def test_a_trainer_without_our_callbacks_is_told_of(task: Any, runner: Any, caplog: pytest.LogCaptureFixture) -> None:
    task()
    with det_lightning.init() as context:
        L.Trainer(**context.trainer_kwargs(max_epochs=1)).fit(Net(), noisy_loader())
    assert "no Trainer had the callbacks" not in caplog.text
    task()
    with det_lightning.init():
        L.Trainer(logger=False, enable_checkpointing=False, max_epochs=1).fit(Net(), noisy_loader())
    assert "no Trainer had the callbacks" in caplog.text


def test_an_operation_ends_with_a_validation_where_the_trainer_validates_by_the_clock(
    task: Any, runner: Any, master: Any
) -> None:
    operations = Operations(master, 3)
    fitted = fit(task, runner, searcher=CLASSIC, val_check_interval="00:01:00:00", check_val_every_n_epoch=None)
    assert sorted(fitted.validation) == [3]
    assert operations.completed == [(3, pytest.approx(fitted.validation[3]["val_loss"]))]


def test_epochs_of_data_without_a_length_are_refused(task: Any, runner: Any, master: Any) -> None:
    """Such a fit would never end."""
    Operations(master, 2)
    with pytest.raises(InvalidExperimentException, match=r"lasts Epoch\(2\), but the training data has no length"):
        fit(task, runner, searcher={**CLASSIC, "max_length": {"epochs": 4}}, loader=stream_loader)


def test_a_trainer_with_other_ranks_than_the_context_is_refused(task: Any, runner: Any) -> None:
    task()
    with det_lightning.init() as context:
        with pytest.raises(InvalidExperimentException, match=r"the Trainer has 2 rank\(s\), and the context 1"):
            context.trainer_kwargs(max_epochs=1, devices=2)
        trainer = L.Trainer(**context.trainer_kwargs(max_epochs=1))
        with pytest.MonkeyPatch.context() as changed:
            changed.setattr(context.core.distributed, "size", 2)
            with pytest.raises(InvalidExperimentException, match=r"the Trainer has 1 rank\(s\), and the context 2"):
                trainer.fit(Net(), noisy_loader())
