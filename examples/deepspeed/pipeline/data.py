"""Points that a random network has sorted into classes: made here, the same every time."""

import torch
from torch.utils.data import TensorDataset

FEATURES, CLASSES = 16, 4


def points(records: int, seed: int) -> TensorDataset:
    teacher = torch.randn(FEATURES, CLASSES, generator=torch.Generator().manual_seed(0))
    inputs = torch.randn(records, FEATURES, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(inputs, (inputs @ teacher).argmax(dim=1))
