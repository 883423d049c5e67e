"""A small regression with everything that a pause could lose: shuffled data, dropout, momentum, a schedule."""

from typing import Any

import torch
from torch import nn

import determined as det
from determined import pytorch


def points() -> torch.utils.data.TensorDataset:
    x = torch.randn(16, 3, generator=torch.Generator().manual_seed(1))
    return torch.utils.data.TensorDataset(x, x.sum(dim=1, keepdim=True))


class Trial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        lr = float(context.get_hparam("lr"))
        if lr < 0:
            raise det.InvalidHP("lr is negative")
        self.model = context.wrap_model(nn.Sequential(nn.Linear(3, 16), nn.Dropout(0.1), nn.Linear(16, 1)))
        optimizer = torch.optim.SGD(self.model.parameters(), lr=lr / 4, momentum=0.5)
        self.optimizer = context.wrap_optimizer(optimizer)
        self.scheduler = context.wrap_lr_scheduler(
            torch.optim.lr_scheduler.StepLR(self.optimizer, 1, gamma=0.9),
            step_mode=pytorch.LRScheduler.StepMode.STEP_EVERY_EPOCH,
        )

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(points(), batch_size=self.context.get_per_slot_batch_size(), shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(points(), batch_size=self.context.get_per_slot_batch_size())

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, torch.Tensor]:
        x, y = batch
        loss = nn.functional.mse_loss(self.model(x), y)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch: Any) -> dict[str, torch.Tensor]:
        x, y = batch
        return {"validation_loss": nn.functional.mse_loss(self.model(x), y)}
