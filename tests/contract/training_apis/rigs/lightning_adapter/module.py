"""A LightningModule with what a pause could lose: dropout, momentum, a schedule. It knows nothing of Determined."""

from typing import Any

import lightning.pytorch as L
import torch
from torch import nn


def points() -> torch.utils.data.TensorDataset:
    x = torch.randn(16, 3, generator=torch.Generator().manual_seed(1))
    return torch.utils.data.TensorDataset(x, x.sum(dim=1, keepdim=True))


class Regression(L.LightningModule):
    def __init__(self, lr: float) -> None:
        super().__init__()
        self.lr = lr
        self.layers = nn.Sequential(nn.Linear(3, 16), nn.Dropout(0.1), nn.Linear(16, 1))

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        x, y = batch
        loss = nn.functional.mse_loss(self.layers(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        x, y = batch
        self.log("val_loss", nn.functional.mse_loss(self.layers(x), y), batch_size=len(x))

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.SGD(self.parameters(), lr=self.lr / 4, momentum=0.5)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.9)]
