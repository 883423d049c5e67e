"""Pictures of ten made-up things in the shape of CIFAR-10, three channels of 32 x 32 bytes, and ways to vary them."""

from collections.abc import Callable

import torch
from torch.nn import functional
from torch.utils.data import Dataset

CLASSES, SIZE = 10, 32

Transform = Callable[[torch.Tensor], torch.Tensor]


class Pictures(Dataset[tuple[torch.Tensor, int]]):
    """`seed` chooses the records; the ten things are always the same."""

    def __init__(self, records: int, seed: int, transform: Transform) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(CLASSES, (records,), generator=generator)
        noise = torch.randn(records, 3, SIZE, SIZE, generator=generator)
        self.images = (128 + 40 * _things()[self.labels] + 30 * noise).clamp(0, 255).to(torch.uint8)
        self.transform = transform

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self.transform(self.images[index]), int(self.labels[index])


def compose(*transforms: Transform) -> Transform:
    def all_of_them(image: torch.Tensor) -> torch.Tensor:
        for transform in transforms:
            image = transform(image)
        return image

    return all_of_them


def random_crop(image: torch.Tensor) -> torch.Tensor:
    padded = functional.pad(image, (4, 4, 4, 4))
    top, left = torch.randint(9, (2,)).tolist()
    return padded[:, top : top + SIZE, left : left + SIZE]


def random_flip(image: torch.Tensor) -> torch.Tensor:
    return image.flip(2) if torch.rand(()) < 0.5 else image


def normalize(image: torch.Tensor) -> torch.Tensor:
    return (image.float() - 128) / 64


def _things() -> torch.Tensor:
    rough = torch.randn(CLASSES, 3, 4, 4, generator=torch.Generator().manual_seed(0))
    return functional.interpolate(rough, size=(SIZE, SIZE), mode="bilinear")
