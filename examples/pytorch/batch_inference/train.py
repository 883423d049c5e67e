"""Batch inference: a classifier over a dataset, shared among workers. Predictions are stored, accuracy is reported.

The model stands for one that was trained before: it knows the centre of each class and picks the nearest.
"""

import logging
from typing import Any

import torch
from torch import nn
from torch.utils.data import TensorDataset

import determined as det
from determined import pytorch
from determined.pytorch import experimental

CLASSES, FEATURES = 10, 16


def centres() -> torch.Tensor:
    return 3 * torch.randn(CLASSES, FEATURES, generator=torch.Generator().manual_seed(1))


def dataset(records: int) -> TensorDataset:
    generator = torch.Generator().manual_seed(2)
    labels = torch.randint(CLASSES, (records,), generator=generator)
    return TensorDataset(centres()[labels] + 2 * torch.randn(records, FEATURES, generator=generator), labels)


def build_model() -> nn.Module:
    model = nn.Linear(FEATURES, CLASSES)
    with torch.no_grad():
        model.weight.copy_(2 * centres())
        model.bias.copy_(-centres().square().sum(dim=1))
    return model


class Accuracy(pytorch.MetricReducer):
    """Right answers of all answers, over all workers."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.right, self.all = 0, 0

    def update(self, predicted: torch.Tensor, labels: torch.Tensor) -> None:
        self.right += int((predicted == labels).sum())
        self.all += len(labels)

    def per_slot_reduce(self) -> tuple[int, int]:
        return self.right, self.all

    def cross_slot_reduce(self, per_slot_metrics: list[tuple[int, int]]) -> float:
        right, answers = (sum(column) for column in zip(*per_slot_metrics, strict=True))
        return right / answers


class Classify(experimental.TorchBatchProcessor):
    def __init__(self, context: experimental.TorchBatchProcessorContext) -> None:
        self.context = context
        self.model = context.prepare_model_for_inference(build_model())
        self.accuracy: Any = context.wrap_reducer(Accuracy(), "accuracy")
        self.held: dict[int, torch.Tensor] = {}

    def process_batch(self, batch: Any, batch_idx: int) -> None:
        inputs, labels = self.context.to_device(batch)
        with torch.inference_mode():
            predicted = self.model(inputs).argmax(dim=1)
        self.accuracy.update(predicted, labels)
        self.held[batch_idx] = predicted.cpu()

    def on_checkpoint_start(self) -> None:
        """Write one file per checkpoint, not one per batch. After it these batches count as done."""
        if not self.held:
            return
        with self.context.upload_path() as path:
            torch.save(self.held, path / f"{min(self.held)}.pt")
        self.held = {}


def main() -> None:
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    if info is None:
        raise SystemExit("batch inference runs on a cluster: det e create config.yaml . -f")
    hparams = info.trial.hparams
    experimental.torch_batch_process(
        Classify,
        dataset(hparams["records"]),
        batch_size=hparams["batch_size"],
        checkpoint_interval=hparams["checkpoint_interval"],
    )


if __name__ == "__main__":
    main()
