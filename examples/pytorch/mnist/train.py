"""MNIST as a script: `pytorch.init` and `Trainer.fit`. It also runs without a cluster: python3 train.py"""

import logging
from typing import Any

import torch
from data import digits
from model import build_model
from torch import nn

import determined as det
from determined import pytorch

TRAINING_RECORDS, VALIDATION_RECORDS = 2048, 512
HPARAMS = {
    "epochs": 2,
    "global_batch_size": 64,
    "learning_rate": 0.003,
    "n_filters1": 8,
    "n_filters2": 16,
    "dropout": 0.25,
}


class MNistTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext, hparams: dict[str, Any]) -> None:
        self.context = context
        self.batch_size = context.get_per_slot_batch_size()
        self.model = context.wrap_model(build_model(hparams))
        optimizer = torch.optim.Adam(self.model.parameters(), lr=hparams["learning_rate"])
        self.optimizer = context.wrap_optimizer(optimizer)

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(digits(TRAINING_RECORDS, seed=1), batch_size=self.batch_size, shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(digits(VALIDATION_RECORDS, seed=2), batch_size=self.batch_size)

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


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    hparams = info.trial.hparams if info else HPARAMS
    with pytorch.init(hparams=hparams) as context:
        trial = MNistTrial(context, hparams)
        trainer = pytorch.Trainer(trial, context)
        trainer.fit(
            max_length=pytorch.Epoch(hparams["epochs"]),
            validation_period=pytorch.Epoch(1),
            reporting_period=pytorch.Batch(16),
            checkpoint_policy="all",
            latest_checkpoint=info.latest_checkpoint if info else None,
        )


if __name__ == "__main__":
    main()
