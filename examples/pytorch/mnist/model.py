"""The network: two convolutions and a linear layer."""

from typing import Any

from data import CLASSES
from torch import nn


def build_model(hparams: dict[str, Any]) -> nn.Module:
    first, second = hparams["n_filters1"], hparams["n_filters2"]
    return nn.Sequential(
        nn.Conv2d(1, first, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(first, second, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(hparams["dropout"]),
        nn.Linear(second * 5 * 5, CLASSES),
    )
