"""Trials for tests/unit/pytorch/test_exactness.py, and what its ranks do."""

import random
import shutil
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import torch
from made_context import made_context
from small_trial import BATCH, SmallTrial, dataset, weights

from determined import pytorch
from determined.pytorch import Batch
from determined.pytorch._controller import Plan, PyTorchTrialController
from determined.trial import one_leg

NOISY_HOOKS = [
    "on_trial_startup",
    "on_training_start",
    "on_training_workload_end",
    "on_validation_start",
    "on_validation_end",
    "on_checkpoint_save_start",
    "on_checkpoint_write_end",
    "on_checkpoint_upload_end",
]
LENGTH, STOP_AFTER, AGGREGATION = 12, 7, 3


class Noisy(pytorch.PyTorchCallback):
    """Draws random numbers at one hook."""

    def __init__(self, hook: str) -> None:
        setattr(self, hook, draw)


class Drawn(torch.utils.data.Dataset[Any]):
    """Four records that are drawn whenever they are asked for."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randn(3) + random.random() + float(np.random.rand()), torch.zeros(1)


class Augmented(SmallTrial):
    """Every rank has random numbers of its own."""

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(dataset(5 * BATCH), batch_size=BATCH, shuffle=True)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        x, y = batch
        return super().train_batch((x + torch.randn_like(x), y), epoch_idx, batch_idx)


def draw(*_arguments: Any) -> None:
    torch.rand(1), np.random.rand(), random.random()


def stopping(trial_class: type[SmallTrial], after: int) -> type[SmallTrial]:
    """As `trial_class`, but asks to stop after so many batches."""

    class Stopping(trial_class):  # type: ignore[misc, valid-type]
        def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
            self.context.set_stop_requested(batch_idx + 1 >= after)
            returned: dict[str, Any] = super().train_batch(batch, epoch_idx, batch_idx)
            return returned

    return Stopping


def paused_between_steps(distributed: Any, directory: str) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The weights of a training without a break, and of one paused while gradients were being collected."""
    whole, first, second = (Path(directory, name) for name in ("whole", "first", "second"))
    left_alone = _train(Augmented, distributed, whole, None)
    _train(stopping(Augmented, STOP_AFTER), distributed, first, None)
    (paused,) = [path.parent for path in first.glob("checkpoints/*/state_dict.pth")]
    if distributed.rank == 0:
        shutil.copytree(first, second)
    distributed.allgather(None)
    return weights(left_alone), weights(_train(Augmented, distributed, second, paused.name))


def _train(trial_class: type[SmallTrial], distributed: Any, directory: Path, latest: str | None) -> SmallTrial:
    random.seed(5)
    np.random.seed(5)
    context = made_context(directory, distributed, aggregation_frequency=AGGREGATION)
    context._core.preempt.start()
    trial = trial_class(context)
    torch.manual_seed(7 + distributed.rank)
    plan = Plan(reporting_period=Batch(1), checkpoint_policy="none", latest_checkpoint=latest)
    PyTorchTrialController(trial, context, plan, one_leg(Batch(LENGTH))).run()
    return trial
