"""What an interruption could change, and must not: random numbers, orders, callbacks, what is saved when."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from exact_jobs import NOISY_HOOKS, Drawn, Noisy, stopping
from made_context import made_context
from ranks import run_ranks
from small_trial import BATCH, SmallTrial, dataset, weights

from determined import core, pytorch
from determined.pytorch import Batch, Epoch
from determined.pytorch._controller import Plan, PyTorchTrialController
from determined.storage.local import LocalStorageManager
from determined.trial import Goal, Leg

LENGTH = 12


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


class Runs:
    """Trains a trial class without a break, or up to a batch and then on in what could be another process."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.stored: list[str] = []  # the oldest first

    def whole(self, trial_class: type[SmallTrial], **how: Any) -> Any:
        return self._fit(trial_class, **how)

    def broken(self, trial_class: type[SmallTrial], after: int, **how: Any) -> Any:
        self._fit(stopping(trial_class, after), **how)
        return self._fit(trial_class, latest_checkpoint=self.stored[-1], **how)

    def newest_state(self) -> dict[str, Any]:
        file = self._home / "determined" / self.stored[-1] / "state_dict.pth"
        state: dict[str, Any] = torch.load(file, weights_only=False)
        return state

    def _fit(self, trial_class: type[SmallTrial], **how: Any) -> Any:
        random.seed(5)
        np.random.seed(5)
        with pytorch.init(hparams={}) as context:
            trial = trial_class(context)
            torch.manual_seed(7)
            arguments = {"max_length": Batch(LENGTH), "reporting_period": Batch(1), "checkpoint_policy": "none"}
            pytorch.Trainer(trial, context).fit(**(arguments | how))
            return trial


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """It notes what is stored: by their times alone, two checkpoints of one tick of the clock have no order."""
    made, publish = Runs(tmp_path), LocalStorageManager.publish

    def noted(manager: LocalStorageManager, dst: str, entries: Any) -> None:
        publish(manager, dst, entries)
        made.stored.append(dst)

    monkeypatch.setattr(LocalStorageManager, "publish", noted)
    return made


def equal(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("hook", NOISY_HOOKS)
def test_random_numbers_drawn_by_a_callback_are_the_same_after_a_pause(runs: Runs, hook: str) -> None:
    class Trial(SmallTrial):
        def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
            return {"noisy": Noisy(hook)}

    periods = {"checkpoint_period": Batch(2), "validation_period": Batch(3)}
    assert equal(weights(runs.whole(Trial, **periods)), weights(runs.broken(Trial, 6, **periods)))


class _Watching(SmallTrial):
    """Notes the order in which validation data comes."""

    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        super().__init__(context)
        self.evaluated: list[float] = []

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(dataset(), batch_size=BATCH, shuffle=True)

    def evaluate_batch(self, batch: Any) -> dict[str, Any]:
        self.evaluated.append(float(batch[0].sum()))
        return super().evaluate_batch(batch)


class _WithGenerator(_Watching):
    def build_validation_data_loader(self) -> pytorch.DataLoader:
        generator = torch.Generator().manual_seed(8)
        return pytorch.DataLoader(dataset(), batch_size=BATCH, shuffle=True, generator=generator)


@pytest.mark.parametrize("trial_class", [_Watching, _WithGenerator])
def test_shuffled_validation_data_comes_in_the_same_order_after_a_pause(
    runs: Runs, trial_class: type[_Watching]
) -> None:
    whole = runs.whole(trial_class, validation_period=Batch(4)).evaluated
    broken = runs.broken(trial_class, 5, validation_period=Batch(4)).evaluated
    assert len(whole) == 3 * 4
    assert broken == whole[4:]
    assert whole[:4] != [float(x.sum()) for x in dataset().tensors[0].split(BATCH)], "it is shuffled"


def test_long_lived_loading_workers_draw_the_same_numbers_after_a_pause(runs: Runs) -> None:
    class Trial(_Watching):
        def build_validation_data_loader(self) -> pytorch.DataLoader:
            return pytorch.DataLoader(Drawn(), batch_size=2, num_workers=1, persistent_workers=True)

    whole = runs.whole(Trial, validation_period=Batch(4)).evaluated
    assert len(set(whole)) == 3 * 2, "every validation draws others"
    assert runs.broken(Trial, 5, validation_period=Batch(4)).evaluated == whole[2:]


def test_callbacks_hear_of_the_first_validation_again_when_training_begins_again(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core.DummyTrainContext, "_get_last_validation", lambda _self: 0)
    silent = runs.whole(_Watching, max_length=Batch(1), step_zero_validation=True)
    assert len(silent.evaluated) == 4, "the master knows it, and nobody listens"
    runs.whole(_Counting, max_length=Batch(1), step_zero_validation=True)
    assert runs.newest_state()["callbacks"] == {"validations": {"count": 2}}


def test_validating_does_not_change_the_order_of_training_data(runs: Runs) -> None:
    class Trial(SmallTrial):
        def build_training_data_loader(self) -> pytorch.DataLoader:
            self.generator = torch.Generator().manual_seed(8)
            return pytorch.DataLoader(dataset(), batch_size=BATCH, shuffle=True, generator=self.generator)

        def build_validation_data_loader(self) -> pytorch.DataLoader:
            return pytorch.DataLoader(dataset(), batch_size=BATCH, shuffle=True, generator=self.generator)

    never, often = runs.whole(Trial), runs.whole(Trial, validation_period=Batch(1))
    assert equal(weights(never), weights(often))
    assert equal(weights(never), weights(runs.broken(Trial, 6, validation_period=Batch(1))))


class _Validations(pytorch.PyTorchCallback):
    """Counts them, and lowers the learning rate at each."""

    def __init__(self, trial: SmallTrial) -> None:
        self._trial = trial
        self.count = 0

    def on_validation_end(self, metrics: dict[str, Any]) -> None:
        self.count += 1
        self._trial.optimizer.param_groups[0]["lr"] *= 0.5

    def state_dict(self) -> dict[str, Any]:
        return {"count": self.count}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.count = state_dict["count"]


class _Counting(SmallTrial):
    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        return {"validations": _Validations(self)}


def test_what_callbacks_make_of_a_validation_after_a_pause_is_saved(runs: Runs) -> None:
    runs.whole(_Counting, validation_period=Batch(5))
    whole = runs.newest_state()
    runs.broken(_Counting, LENGTH, validation_period=Batch(5))  # trained to the end, and paused before it was validated
    broken = runs.newest_state()
    assert whole["callbacks"] == broken["callbacks"] == {"validations": {"count": 3}}
    rates = [state["optimizers_state_dict"][0]["param_groups"][0]["lr"] for state in (whole, broken)]
    assert rates[0] == rates[1]


def test_an_operation_is_completed_when_its_last_batch_is_saved(tmp_path: Path) -> None:
    saved: list[int] = []

    class Watched(Leg):
        def complete(self, metric: Any, is_chief: bool) -> None:
            super().complete(metric, is_chief)
            saved.append(len(list((tmp_path / "checkpoints").glob("*/state_dict.pth"))))

    context = made_context(tmp_path)
    context._core.preempt.start()
    legs: Iterator[Leg] = iter([Watched(Batch(2)), Watched(Batch(3))])
    PyTorchTrialController(SmallTrial(context), context, Plan(checkpoint_policy="none"), legs).run()
    assert saved == [1, 2]


class _Master:
    """Knows the best validation of an experiment, and the last one of the trial."""

    def __init__(self, best: float, last: int) -> None:
        self.train = self
        self._best, self._last = best, last

    def get_experiment_best_validation(self) -> float:
        return self._best

    def _get_last_validation(self) -> int:
        return self._last


def test_the_best_validation_is_the_best_also_when_it_is_done_again() -> None:
    goal = Goal(("loss",), smaller_is_better=True)
    asked: Any = _Master(best=0.5, last=20)
    assert goal.is_best({"loss": 0.5}, asked, 20), "a kill came before it was saved"
    assert not goal.is_best({"loss": 0.5}, asked, 30), "another one that is as good"
    assert not goal.is_best({"loss": 0.6}, asked, 20)


@pytest.mark.parametrize("stop_after", [1, 5, 9])
def test_a_pause_in_an_epoch_of_records_leaves_the_epochs_as_they_were(runs: Runs, stop_after: int) -> None:
    class Trial(SmallTrial):
        def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
            super().__init__(context)
            self.edges: list[tuple[int, bool, bool, int]] = []

        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
            asked = self.context
            edge = asked.is_epoch_start(), asked.is_epoch_end(), asked.current_train_epoch()
            self.edges.append((batch_idx, *edge))
            return super().train_batch(batch, epoch_idx, batch_idx)

    whole, broken = runs.whole(Trial, max_length=Epoch(3)), runs.broken(Trial, stop_after, max_length=Epoch(3))
    assert broken.edges == whole.edges[stop_after:]


def test_ranks_paused_between_two_optimizer_steps_go_on_bit_by_bit(tmp_path: Path) -> None:
    """Two of them: from three on, DDP adds up in another order in the first step of a process than in later ones."""
    jobs = Path(__file__).with_name("exact_jobs.py")
    for whole, broken in run_ranks(2, f"{jobs}:paused_between_steps", str(tmp_path)):
        assert equal(whole, broken)
