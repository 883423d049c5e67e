"""The training loop at its edges: the end of an operation, one rank of several, what callbacks may ask and when."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from made_context import made_context
from ranks import run_ranks
from small_trial import SmallTrial, dataset

from determined import core, pytorch
from determined.core._searcher import SearcherOperation
from determined.errors import InvalidHP
from determined.pytorch import Batch, Epoch, _entrypoint
from determined.pytorch._controller import Plan, PyTorchTrialController
from determined.trial import Goal, Leg, one_leg, operation_legs


class _Searcher:
    """Hands out one real operation, and notes what comes back."""

    def __init__(self, unit: core.Unit, length: int) -> None:
        self.searcher = self
        self._unit = unit
        self._operation = SearcherOperation(self, length, is_chief=True)  # type: ignore[arg-type]
        self.progress: list[float] = []
        self.metrics: list[Any] = []

    def get_configured_units(self) -> core.Unit:
        return self._unit

    def operations(self) -> Iterator[SearcherOperation]:
        yield self._operation

    def _progress(self, length: float, total: int) -> None:
        self.progress.append(length)

    def _complete(self, length: int, metric: Any) -> None:
        self.metrics.append(metric)

    def legs(self, batch_size: int = 4) -> Iterator[Leg]:
        asked: Any = self
        return operation_legs(asked, lambda: batch_size)


def _controller(home: Path, trial_class: type[SmallTrial], legs: Iterator[Leg], **plan: Any) -> PyTorchTrialController:
    context = made_context(home)
    context._core.preempt.start()
    return PyTorchTrialController(trial_class(context), context, Plan(**({"checkpoint_policy": "none"} | plan)), legs)


class _FortyNine(SmallTrial):
    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(dataset(49), batch_size=1)


@pytest.mark.parametrize(
    ("trial_class", "unit", "length", "told"),
    [
        (SmallTrial, core.Unit.RECORDS, 10, [4, 10]),  # two batches of 4
        (SmallTrial, core.Unit.BATCHES, 3, [1, 2, 3]),
        (_FortyNine, core.Unit.EPOCHS, 1, [n / 49 for n in range(1, 49)] + [1]),  # 49 times 1/49 is less than 1
    ],
)
def test_progress_comes_once_a_boundary_and_ends_at_the_operations_length(
    tmp_path: Path, trial_class: type[SmallTrial], unit: core.Unit, length: int, told: list[float]
) -> None:
    searcher = _Searcher(unit, length)
    every = {"reporting_period": Batch(1), "validation_period": Batch(1)}
    controller = _controller(tmp_path, trial_class, searcher.legs(), **every)
    controller._goal = Goal(("validation_loss",))
    controller.run()
    assert searcher.progress == told
    assert len(searcher.metrics) == 1


def test_validations_and_checkpoints_between_two_reports_tell_the_progress(tmp_path: Path) -> None:
    searcher = _Searcher(core.Unit.BATCHES, 5)
    periods = {"validation_period": Batch(2), "checkpoint_period": Batch(3)}
    controller = _controller(tmp_path, SmallTrial, searcher.legs(), **periods)
    controller._goal = Goal(("validation_loss",))
    controller.run()
    assert searcher.progress == [2, 3, 4, 5]


@pytest.mark.parametrize("policy", ["none", "best"])
def test_the_end_is_reported_and_saved_before_a_missing_searcher_metric_is_an_error(
    tmp_path: Path, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[str] = []
    monkeypatch.setattr(
        core.DummyTrainContext, "report_metrics", lambda _self, group, _steps, _metrics: reported.append(group)
    )
    searcher = _Searcher(core.Unit.BATCHES, 2)
    controller = _controller(tmp_path, SmallTrial, searcher.legs(), checkpoint_policy=policy)
    controller._goal = Goal(("absent",))
    with pytest.raises(RuntimeError, match="'absent' is not among the validation metrics"):
        controller.run()
    assert reported == ["training", "validation"]
    assert len(list((tmp_path / "checkpoints").glob("*/state_dict.pth"))) == 1
    assert searcher.metrics == []


def test_a_training_without_operations_needs_no_searcher_metric_at_its_end(tmp_path: Path) -> None:
    controller = _controller(tmp_path, SmallTrial, one_leg(Batch(2)))
    controller._goal = Goal(("absent",))
    controller.run()
    assert controller.state.last_ckpt == 2


def test_one_rank_of_several_with_invalid_hyperparameters_enters_no_collective_checkpoint(tmp_path: Path) -> None:
    def unlucky() -> Iterator[Leg]:
        raise InvalidHP("too wide")
        yield

    controller = _controller(tmp_path, SmallTrial, unlucky())
    controller.state.batches_trained = 3
    peers: Any = SimpleNamespace(size=2, rank=0, allgather=lambda value: [value, value])
    controller._dist = peers
    saved: list[Any] = []
    controller._checkpoints.save = lambda *state: saved.append(state)  # type: ignore[method-assign]
    with pytest.raises(InvalidHP):
        controller._train()
    assert saved == []


def test_the_start_of_an_epoch_knows_where_training_is(tmp_path: Path) -> None:
    asked: list[tuple[int, int, bool]] = []

    class Trial(SmallTrial):
        def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
            return {"asking": Asking()}

    class Asking(pytorch.PyTorchCallback):
        def on_training_epoch_start(self, epoch_idx: int) -> None:
            context = controller.context
            asked.append((context.current_train_epoch(), context.current_train_batch(), context.is_epoch_start()))

    controller = _controller(tmp_path, Trial, one_leg(Epoch(2)))
    controller.run()
    assert asked == [(0, 0, True), (1, 4, True)]


def test_the_end_of_a_validation_is_no_training(tmp_path: Path) -> None:
    modes: list[tuple[bool, bool]] = []

    class Trial(SmallTrial):
        def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
            return {"looking": Looking()}

        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
            modes.append((self.model.training, torch.is_grad_enabled()))
            return super().train_batch(batch, epoch_idx, batch_idx)

    class Looking(pytorch.PyTorchCallback):
        def on_validation_end(self, metrics: dict[str, Any]) -> None:
            modes.append((controller.context.models[0].training, torch.is_grad_enabled()))

    controller = _controller(tmp_path, Trial, one_leg(Batch(2)), validation_period=Batch(1))
    controller.run()
    assert modes == [(True, True), (False, False)] * 2


class _Stream(SmallTrial):
    """Has no length."""

    def build_training_data_loader(self) -> Any:
        self.context.experimental.disable_dataset_reproducibility_checks()
        return (batch for batch in [(torch.ones(1, 3), torch.ones(1, 1))] * 3)


@pytest.mark.parametrize("trial_class", [SmallTrial, _Stream])
def test_a_scheduler_that_waits_for_epochs_of_data_without_length_is_named(
    tmp_path: Path, trial_class: type[SmallTrial], caplog: pytest.LogCaptureFixture
) -> None:
    _controller(tmp_path, trial_class, one_leg(Batch(3))).run()
    named = [record.getMessage() for record in caplog.records if "STEP_EVERY_EPOCH" in record.getMessage()]
    if trial_class is SmallTrial:
        assert named == []
        return
    (message,) = named
    assert message.startswith("StepLR was wrapped with STEP_EVERY_EPOCH, but the training data has no length")
    assert message.endswith("use STEP_EVERY_BATCH with frequency=batches, or MANUAL_STEP")


def test_ranks_with_different_callbacks_and_without_a_seed_stay_together(tmp_path: Path) -> None:
    job = Path(__file__).with_name("lone_callback_jobs.py")
    (chief, heard), (worker, nothing) = run_ranks(2, f"{job}:chief_listens", str(tmp_path))
    assert (heard, nothing) == (3, 0)
    assert chief == worker, "the seed of the data is drawn on every rank"


def test_a_trial_class_without_a_length_is_told_where_the_config_has_one(tmp_path: Path) -> None:
    context = made_context(tmp_path)
    config = {"searcher": {"name": "single", "metric": "validation_loss"}}
    info: Any = SimpleNamespace(trial=SimpleNamespace(_config=config, _debug=False), latest_checkpoint=None)
    with pytest.raises(ValueError, match=r"^SmallTrial has no max_length.*searcher\.max_length: \{epochs: n\}"):
        _entrypoint.train(SmallTrial, context, info, PyTorchTrialController)
