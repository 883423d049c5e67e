"""A trial that uses every source of randomness and every state that an interruption could lose, and reports them.

Its hyperparameters choose the sampler, the optimizer, the schedule, mixed precision and the number of loading workers.
"""

import random
import zlib
from typing import Any

import numpy as np
import torch
from interruptions import Interruptions
from torch import nn
from torch.utils.data import BatchSampler, Dataset, WeightedRandomSampler

from determined import pytorch

RECORDS, FEATURES = 85, 6  # 11 batches of 8, the last one of 5


class Noisy(Dataset[Any]):
    """Records that are never the same twice, by the random numbers of all three libraries."""

    def __len__(self) -> int:
        return RECORDS

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.linspace(-1, 1, FEATURES) * (index % 7 - 3)
        x = x + 0.1 * torch.randn(FEATURES) + 0.1 * float(np.random.normal()) + 0.1 * random.gauss(0, 1)
        return x, x.sum().reshape(1) * 0.1


class Memory(pytorch.PyTorchCallback):
    """A chain of checksums over everything it is told; draws random numbers wherever it may."""

    def __init__(self, interruptions: Interruptions) -> None:
        self.chain = 0
        self._interruptions = interruptions

    def on_trial_startup(self, first_batch_idx: int, checkpoint_uuid: str | None) -> None:
        draw()

    def on_training_start(self) -> None:
        draw()

    def on_training_epoch_start(self, epoch_idx: int) -> None:
        self._link("start", epoch_idx)

    def on_training_epoch_end(self, epoch_idx: int) -> None:
        self._link("end", epoch_idx)

    def on_training_workload_end(self, avg_metrics: dict[str, Any], batch_metrics: list[dict[str, Any]]) -> None:
        self._link("trained", avg_metrics, batch_metrics, draw())

    def on_validation_start(self) -> None:
        self._link("validation", draw())

    def on_validation_epoch_end(self, outputs: list[Any]) -> None:
        self._link("evaluated", [float(output["validation_loss"]) for output in outputs])

    def on_validation_end(self, metrics: dict[str, Any]) -> None:
        self._link("validated", metrics, draw())

    def on_checkpoint_save_start(self, checkpoint: dict[str, Any]) -> None:
        self._interruptions.at_checkpoint()
        draw()

    def on_checkpoint_upload_end(self, uuid: str) -> None:
        draw()

    def state_dict(self) -> dict[str, Any]:
        return {"chain": self.chain}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.chain = state_dict["chain"]

    def _link(self, *words: Any) -> None:
        self.chain = zlib.crc32(repr(words).encode(), self.chain)


class MemoryWithFiles(Memory):
    """Looks at the files of a checkpoint, which then are written before training goes on."""

    def on_checkpoint_write_end(self, checkpoint_dir: str) -> None:
        draw()


class ExactTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        self.interruptions = Interruptions(context)
        if context.get_hparam("bf16"):
            context.experimental.use_amp(torch.bfloat16)
        layers = [nn.Linear(FEATURES, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1)]
        self.model = context.wrap_model(nn.Sequential(*layers))
        self.optimizer = context.wrap_optimizer(self._optimizer())
        self.scheduler = context.wrap_lr_scheduler(*self._schedule())
        self.median = context.wrap_reducer(median, name="median")

    def _optimizer(self) -> torch.optim.Optimizer:
        if self.context.get_hparam("optimizer") == "adam":
            return torch.optim.Adam(self.model.parameters(), lr=0.01)
        return torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)

    def _schedule(self) -> tuple[Any, pytorch.LRScheduler.StepMode]:
        modes = pytorch.LRScheduler.StepMode
        if self.context.get_hparam("schedule") == "epoch":
            return torch.optim.lr_scheduler.StepLR(self.optimizer, 1, gamma=0.7), modes.STEP_EVERY_EPOCH
        return torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.97), modes.STEP_EVERY_BATCH

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        kind = MemoryWithFiles if self.context.get_hparam("looks_at_files") else Memory
        return {"memory": kind(self.interruptions)}

    def build_training_data_loader(self) -> pytorch.DataLoader:
        size, workers = self.context.get_per_slot_batch_size(), self.context.get_hparam("workers")
        if self.context.get_hparam("sampler") == "shuffle":
            return pytorch.DataLoader(Noisy(), batch_size=size, shuffle=True, num_workers=workers)
        generator = torch.Generator().manual_seed(3)
        weights = [1.0 + index % 3 for index in range(RECORDS)]
        drawn = BatchSampler(WeightedRandomSampler(weights, RECORDS, generator=generator), size, drop_last=False)
        return pytorch.DataLoader(Noisy(), batch_sampler=drawn, generator=generator, num_workers=workers)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        generator = torch.Generator().manual_seed(4) if self.context.get_hparam("sampler") == "own" else None
        return pytorch.DataLoader(Noisy(), batch_size=16, shuffle=True, generator=generator)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        self.interruptions.at_batch(batch_idx)
        x, y = batch
        mixed = 0.8 + 0.2 * random.random()
        noise = torch.from_numpy(np.random.normal(size=y.shape)).float()
        loss = nn.functional.mse_loss(self.model(mixed * x), y + 0.01 * noise)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        self.median.update(loss.item())
        return {
            "loss": loss,
            "seen": x.double().sum(),
            "lr": self.optimizer.param_groups[0]["lr"],
            "is_epoch_start": float(self.context.is_epoch_start()),
            "is_epoch_end": float(self.context.is_epoch_end()),
        }

    def evaluate_batch(self, batch: Any) -> dict[str, Any]:
        x, y = batch
        loss = nn.functional.mse_loss(self.model(x), y)
        self.median.update(loss.item())
        return {"validation_loss": loss, "validation_seen": x.double().sum()}


def draw() -> tuple[float, float, float]:
    return float(torch.rand(1)), float(np.random.rand()), random.random()


def median(values: list[float]) -> float:
    return float(np.median(values))
