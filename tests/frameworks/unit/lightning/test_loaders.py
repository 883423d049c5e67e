"""Training data of every kind is gone on with in the place where a pause left it."""

from collections.abc import Iterator
from typing import Any

import lightning.pytorch as L
import pytest
import torch
from fits import BATCH, RECORDS, Net, check_same, fit, noisy_loader
from torch.utils.data import DataLoader, TensorDataset


class Stateful:
    """A loader that knows where it is, and goes on there once."""

    def __init__(self) -> None:
        self._next, self._epoch, self._is_loaded = 0, 0, False

    def state_dict(self) -> dict[str, int]:
        return {"next": self._next, "epoch": self._epoch}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self._next, self._epoch, self._is_loaded = state["next"], state["epoch"], True

    def __iter__(self) -> Iterator[torch.Tensor]:
        if not self._is_loaded:
            self._next, self._epoch = 0, self._epoch + 1
        self._is_loaded = False
        return self._batches()

    def _batches(self) -> Iterator[torch.Tensor]:
        while self._next < RECORDS // BATCH:
            self._next += 1
            yield torch.full((BATCH, 3), self._next / RECORDS + 0.1 * self._epoch)


class SizedStateful(Stateful):
    def __len__(self) -> int:
        return RECORDS // BATCH


class OnData(Net):
    """Takes what the loaders give, whatever it is made of, and remembers it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(64))

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        parts = list(batch.values()) if isinstance(batch, dict) else [batch]
        parts = [part[0] if isinstance(part, list) else part for part in parts]
        for part in parts:
            self.seen[1:] = self.seen[:-1].clone()
            self.seen[0] = part.sum()
        return super().training_step(sum(part.mean(dim=0, keepdim=True) for part in parts), batch_idx)


def _several() -> dict[str, Any]:
    short = TensorDataset(torch.arange(9.0).reshape(3, 3))
    return {"long": noisy_loader(), "short": DataLoader(short, batch_size=1, shuffle=True)}


def _mixed() -> dict[str, Any]:
    return {"stateful": SizedStateful(), "plain": noisy_loader()}


CASES: dict[str, dict[str, Any]] = {
    "stateful": {"loader": SizedStateful},
    "stateful without a length": {"loader": Stateful},
    "several": {"loader": _several},
    "stateful beside plain": {"loader": _mixed},
    "loaded anew every epoch": {"reload_dataloaders_every_n_epochs": 1},
}


@pytest.mark.parametrize("case", CASES)
def test_a_pause_loses_and_repeats_no_data(case: str, task: Any, runner: Any) -> None:
    options = {"module": OnData, "max_epochs": 2, **CASES[case]}
    alone = fit(task, runner, **options)
    assert alone.counts["ended"] == 10
    for batch in (1, 4, 5, 6, 8):
        paused = fit(task, runner, pause_in=batch, **options)
        resumed = fit(task, runner, latest=paused.checkpoints[-1], **options)
        check_same(alone, paused, resumed, f"paused in batch {batch}")


def test_a_loader_with_a_state_gives_every_batch_once(task: Any, runner: Any) -> None:
    for loader in (Stateful, SizedStateful):
        fitted = fit(task, runner, module=OnData, max_epochs=1, loader=loader)
        seen = [value for value in fitted.weights["seen"] if value]
        first = seen[-1] - BATCH * 3 * 0.2  # Lightning iterates once to see whether it can
        assert [first, *(value - seen[-1] for value in seen[-2::-1])] == pytest.approx([0.6, 0.6, 1.2, 1.8, 2.4])


def test_a_checkpoint_that_is_asked_for_in_a_validation_has_its_place_in_the_data(task: Any, runner: Any) -> None:
    class Asking(L.Callback):
        def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
            if not trainer.sanity_checking:
                next(each for each in trainer.callbacks if hasattr(each, "request")).request()

    options: dict[str, Any] = {"own": lambda: [Asking()], "val_check_interval": 3, "max_epochs": 2}
    alone = fit(task, runner, **options)
    resumed = fit(task, runner, latest=alone.checkpoints[0], **options)
    assert resumed.counts == alone.counts
    assert resumed.weights == alone.weights


def test_training_that_is_prolonged_goes_on_as_if_it_had_been_so_long_from_the_start(task: Any, runner: Any) -> None:
    alone = fit(task, runner, max_epochs=3)
    first = fit(task, runner, max_epochs=2)
    second = fit(task, runner, max_epochs=3, latest=first.checkpoints[-1])
    assert second.weights == alone.weights


def test_a_loader_whose_workers_stay_serves_another_fit(task: Any, runner: Any) -> None:
    loader = noisy_loader(num_workers=1, persistent_workers=True)
    for _ in range(2):
        fitted = fit(task, runner, max_epochs=1, loader=lambda: loader)
        assert fitted.counts["ended"] == 5
    loader._iterator = None
