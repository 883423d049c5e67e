"""MNIST as a trial class: `entrypoint: model_def:MNistTrial`. The configuration says how long to train."""

from typing import Any

import torch
from data import digits
from model import build_model
from torch import nn

from determined.pytorch import DataLoader, PyTorchTrial, PyTorchTrialContext


class MNistTrial(PyTorchTrial):
    def __init__(self, context: PyTorchTrialContext) -> None:
        self.context = context
        self.model = self.context.wrap_model(build_model(self.context.get_hparams()))
        optimizer = torch.optim.Adam(self.model.parameters(), lr=self.context.get_hparam("learning_rate"))
        self.optimizer = self.context.wrap_optimizer(optimizer)

    def build_training_data_loader(self) -> DataLoader:
        records = self.context.get_data_config()["training_records"]
        return DataLoader(digits(records, seed=1), batch_size=self.context.get_per_slot_batch_size(), shuffle=True)

    def build_validation_data_loader(self) -> DataLoader:
        records = self.context.get_data_config()["validation_records"]
        return DataLoader(digits(records, seed=2), batch_size=self.context.get_per_slot_batch_size())

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        images, labels = batch
        loss = nn.functional.cross_entropy(self.model(images), labels)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch: Any) -> dict[str, Any]:
        images, labels = batch
        output = self.model(images)
        accuracy = (output.argmax(dim=1) == labels).float().mean()
        return {"validation_loss": nn.functional.cross_entropy(output, labels), "accuracy": accuracy}
