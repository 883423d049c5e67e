"""Pictures of ten made-up digits in the shape of MNIST, one channel of 28 x 28. Nothing is downloaded."""

import torch
from torch.nn import functional
from torch.utils.data import TensorDataset

CLASSES, SIZE = 10, 28


def digits(records: int, seed: int) -> TensorDataset:
    """`seed` chooses the records; the ten digits are always the same."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (records,), generator=generator)
    shifts = torch.randint(-2, 3, (records, 2), generator=generator)
    moved = [torch.roll(shape, (y, x), (1, 2)) for shape, (y, x) in zip(shapes()[labels], shifts.tolist(), strict=True)]
    noise = torch.randn(records, 1, SIZE, SIZE, generator=generator)
    return TensorDataset(torch.stack(moved) + 1.5 * noise, labels)


def shapes() -> torch.Tensor:
    """Draw what each digit looks like without noise: smooth spots, dark and bright."""
    rough = torch.randn(CLASSES, 1, 5, 5, generator=torch.Generator().manual_seed(0))
    return functional.interpolate(rough, size=(SIZE, SIZE), mode="bilinear")
