"""How long a fit lasts: by the searcher's operations where the master hands them out, else by script or config."""

from typing import Any

import pytest
from fits import fit

from determined import lightning as det_lightning
from determined.errors import InvalidExperimentException
from determined.wire.report import PreemptAck, Progress

CLASSIC = {"name": "adaptive_asha", "metric": "val_loss", "max_length": {"batches": 12}, "max_trials": 2}
LATE = {"name": "single", "metric": "val_loss", "max_time": 4, "time_metric": "epochs"}


class Operations:
    """A searcher that wants a trial to be trained to each length, and keeps what it is told."""

    def __init__(self, master: Any, *lengths: int) -> None:
        self.left = list(lengths)
        self.last = 0
        self.metrics: list[tuple[int, float]] = []
        path = "/api/v1/trials/7/searcher"
        master.routes["GET", f"{path}/operation"] = lambda _body: (200, self._next())
        master.routes["POST", f"{path}/completed_operation"] = self._complete

    def _next(self) -> dict[str, Any]:
        length = self.left[0] if self.left else self.last
        return {"op": {"validateAfter": {"length": str(length)}}, "completed": not self.left}

    def _complete(self, body: Any) -> tuple[int, Any]:
        self.last = self.left.pop(0)
        self.metrics.append((int(body["op"]["length"]), body["searcherMetric"]))
        return 200, {}


def test_operations_end_a_fit_in_the_middle_of_an_epoch(task: Any, runner: Any, master: Any) -> None:
    operations = Operations(master, 3, 7)
    fitted = fit(task, runner, searcher=CLASSIC)
    assert [length for length, _ in operations.metrics] == [3, 7]
    assert fitted.counts["ended"] == 7
    assert sorted(fitted.validation) == [3, 5, 7]
    assert operations.metrics[0][1] == pytest.approx(fitted.validation[3]["val_loss"])
    assert operations.metrics[1][1] == pytest.approx(fitted.validation[7]["val_loss"])
    assert any(isinstance(record, PreemptAck) for record in runner.records)
    assert any(isinstance(record, Progress) for record in runner.records)


def test_a_promoted_trial_goes_on_where_it_ended(task: Any, runner: Any, master: Any) -> None:
    Operations(master, 3, 7)
    alone = fit(task, runner, searcher=CLASSIC)
    Operations(master, 3)
    first = fit(task, runner, searcher=CLASSIC)
    promoted = Operations(master, 7)
    second = fit(task, runner, searcher=CLASSIC, latest=first.checkpoints[-1])
    assert [length for length, _ in promoted.metrics] == [7]
    assert second.weights == alone.weights
    assert {**first.validation, **second.validation} == alone.validation


def test_a_trial_killed_between_its_checkpoint_and_its_answer_gives_the_answer(
    task: Any, runner: Any, master: Any
) -> None:
    Operations(master, 3)
    first = fit(task, runner, searcher=CLASSIC)
    again = Operations(master, 3)
    second = fit(task, runner, searcher=CLASSIC, latest=first.checkpoints[-1])
    assert again.metrics == [(3, pytest.approx(first.validation[3]["val_loss"]))]
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
        limits = context.trainer_kwargs(accumulate_grad_batches=2)
        assert (limits["max_epochs"], limits["max_steps"]) == (-1, 2)
    task(searcher={"name": "single", "metric": "val_loss"})
    with det_lightning.init() as context, pytest.raises(ValueError, match="pass max_epochs=n"):
        context.trainer_kwargs()


def test_a_trainer_with_preemption_and_no_checkpoint_is_refused(task: Any, runner: Any) -> None:
    import lightning.pytorch as L
    from fits import Net, noisy_loader

    task()
    with det_lightning.init() as context:
        trainer = L.Trainer(callbacks=[context.preemption], logger=False, enable_checkpointing=False, max_epochs=1)
        with pytest.raises(InvalidExperimentException, match="needs a DeterminedCheckpoint beside it"):
            trainer.fit(Net(), noisy_loader())
