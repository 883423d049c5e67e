"""A small regression by a DeepSpeed engine: two micro batches of two records make a batch."""

from collections.abc import Iterator
from typing import Any

import deepspeed
import torch
from torch import nn

import determined as det
from determined import pytorch
from determined.pytorch import deepspeed as det_ds


def points() -> torch.utils.data.TensorDataset:
    x = torch.randn(16, 3, generator=torch.Generator().manual_seed(1))
    return torch.utils.data.TensorDataset(x, x.sum(dim=1, keepdim=True))


class Trial(det_ds.DeepSpeedTrial):
    def __init__(self, context: det_ds.DeepSpeedTrialContext) -> None:
        self.context = context
        lr = float(context.get_hparam("lr"))
        if lr < 0:
            raise det.InvalidHP("lr is negative")
        net = nn.Sequential(nn.Linear(3, 16), nn.Dropout(0.1), nn.Linear(16, 1))
        config = {
            "train_micro_batch_size_per_gpu": 2,
            "gradient_accumulation_steps": 2,
            "optimizer": {"type": "Adam", "params": {"lr": lr / 2, "torch_adam": True}},
            "zero_optimization": {"stage": 1},
        }
        engine, *_ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config=config)
        self.engine = context.wrap_model_engine(engine)

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(points(), batch_size=2, shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(points(), batch_size=2)

    def train_batch(self, dataloader_iter: Iterator[Any] | None, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        x, y = next(dataloader_iter)
        loss = nn.functional.mse_loss(self.engine(x), y)
        self.engine.backward(loss)
        self.engine.step()
        return {"loss": loss}

    def evaluate_batch(self, dataloader_iter: Iterator[Any] | None, batch_idx: int) -> dict[str, Any]:
        x, y = next(dataloader_iter)
        return {"validation_loss": nn.functional.mse_loss(self.engine(x), y)}
