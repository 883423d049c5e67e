"""The model, as a LightningModule that knows nothing of Determined."""

from typing import Any

import lightning as L
import torch
from data import CLASSES, SIZE
from torch import nn


class DigitClassifier(L.LightningModule):
    def __init__(self, learning_rate: float, hidden: int, dropout: float) -> None:
        super().__init__()
        self.learning_rate = learning_rate
        self.layers = nn.Sequential(
            nn.Flatten(),
            nn.Linear(SIZE * SIZE, hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, CLASSES),
        )

    def forward(self, images: torch.Tensor) -> Any:
        return self.layers(images)

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        images, labels = batch
        loss = nn.functional.cross_entropy(self(images), labels)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        images, labels = batch
        output = self(images)
        self.log("val_loss", nn.functional.cross_entropy(output, labels), batch_size=len(labels))
        self.log("val_accuracy", (output.argmax(dim=1) == labels).float().mean(), batch_size=len(labels))

    def configure_optimizers(self) -> dict[str, Any]:
        optimizer = torch.optim.Adam(self.parameters(), lr=self.learning_rate)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "epoch"}}
