"""CIFAR-10 as a trial class: varied pictures, SGD with a learning rate that falls by epochs, top-1 and top-5 accuracy.

Configurations name it as `entrypoint: model_def:CIFARTrial`; `train.py` trains the same class from a script.
"""

import logging
from typing import Any

import torch
from data import Pictures, compose, normalize, random_crop, random_flip
from model import build_model
from torch import nn

from determined.pytorch import DataLoader, LRScheduler, PyTorchCallback, PyTorchTrial, PyTorchTrialContext

TRAINING_RECORDS, VALIDATION_RECORDS = 2048, 512


class CIFARTrial(PyTorchTrial):
    def __init__(self, context: PyTorchTrialContext) -> None:
        self.context = context
        model = build_model(self.context.get_hparam("width"))
        self.model = self.context.wrap_model(model, memory_format=torch.channels_last)
        chosen = {name: context.get_hparam(name) for name in ("lr", "momentum", "weight_decay")}
        self.optimizer = context.wrap_optimizer(torch.optim.SGD(self.model.parameters(), **chosen))
        falling = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=context.get_hparam("lr_decay"))
        self.context.wrap_lr_scheduler(falling, step_mode=LRScheduler.StepMode.STEP_EVERY_EPOCH)

    def build_training_data_loader(self) -> DataLoader:
        varied = Pictures(TRAINING_RECORDS, 1, compose(random_crop, random_flip, normalize))
        return self._loader(varied, shuffle=True)

    def build_validation_data_loader(self) -> DataLoader:
        return self._loader(Pictures(VALIDATION_RECORDS, 2, normalize), shuffle=False)

    def build_callbacks(self) -> dict[str, PyTorchCallback]:
        return {"best": Best()}

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        images, labels = batch
        output = self.model(images)
        loss = nn.functional.cross_entropy(output, labels)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        top1, top5 = accuracy(output, labels, topk=(1, 5))
        return {"loss": loss, "top1": top1, "top5": top5, "lr": self.optimizer.param_groups[0]["lr"]}

    def evaluate_batch(self, batch: Any) -> dict[str, Any]:
        images, labels = batch
        output = self.model(images)
        top1, top5 = accuracy(output, labels, topk=(1, 5))
        return {"validation_loss": nn.functional.cross_entropy(output, labels), "top1": top1, "top5": top5}

    def _loader(self, pictures: Pictures, shuffle: bool) -> DataLoader:
        return DataLoader(
            pictures,
            batch_size=self.context.get_per_slot_batch_size(),
            shuffle=shuffle,
            num_workers=self.context.get_hparam("workers"),
            pin_memory=True,
        )


class Best(PyTorchCallback):
    """Tells the best accuracy so far. It is in the checkpoints, so that a resumed trial remembers it."""

    def __init__(self) -> None:
        self.top1 = 0.0

    def on_validation_end(self, metrics: dict[str, Any]) -> None:
        self.top1 = max(self.top1, float(metrics["top1"]))
        logging.info("best top-1 accuracy so far: %.3f", self.top1)

    def state_dict(self) -> dict[str, Any]:
        return {"top1": self.top1}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.top1 = state_dict["top1"]


def accuracy(output: torch.Tensor, labels: torch.Tensor, topk: tuple[int, ...]) -> list[torch.Tensor]:
    """For each k, the share of records whose label is among the k likeliest."""
    likeliest = output.topk(max(topk), dim=1).indices
    right = likeliest == labels[:, None]
    return [right[:, :k].any(dim=1).float().mean() for k in topk]
