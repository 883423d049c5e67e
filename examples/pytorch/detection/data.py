"""Pictures made on the spot: squares, discs and crosses on noise, in several sizes, each with a box and a class."""

from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset

CLASSES = ("square", "disc", "cross")

Target = dict[str, Tensor]


class Shapes(Dataset[tuple[Tensor, Target]]):
    """Picture `index` depends on `seed` and `index` alone. `flip` mirrors it or not, by torch's random numbers."""

    def __init__(self, pictures: int, seed: int, flip: bool = False) -> None:
        self.pictures = [make_picture(seed * 1_000_003 + index) for index in range(pictures)]
        self.flip = flip

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, index: int) -> tuple[Tensor, Target]:
        image, target = self.pictures[index]
        if self.flip and torch.rand(()) < 0.5:
            return mirrored(image, target)
        return image, target


def collate(records: list[tuple[Tensor, Target]]) -> dict[str, Any]:
    """Pictures differ in size and in the number of their objects: they are not stacked, as torch would by itself."""
    images, targets = zip(*records, strict=True)
    return {"images": list(images), "targets": list(targets)}


def make_picture(seed: int) -> tuple[Tensor, Target]:
    """An image of 3 x height x width, and `boxes` (x1, y1, x2, y2) with their `labels`."""
    generator = torch.Generator().manual_seed(seed)
    height, width = (int(side) for side in torch.randint(4, 7, (2,), generator=generator) * 8)
    image = 0.3 * torch.rand(3, height, width, generator=generator)
    boxes, labels = [], []
    for left in range(0, width - 15, 16):  # one object at most in each column of 16 pixels: none hides another
        label, side = int(torch.randint(3, (), generator=generator)), int(torch.randint(8, 14, (), generator=generator))
        top = int(torch.randint(height - side, (), generator=generator))
        colour = 0.5 + 0.5 * torch.rand(3, 1, 1, generator=generator)
        place = image[:, top : top + side, left : left + side]
        place.copy_(torch.where(mask(label, side), colour, place))
        boxes.append([left, top, left + side, top + side])
        labels.append(label)
    return image, {"boxes": torch.tensor(boxes, dtype=torch.float32), "labels": torch.tensor(labels)}


def mask(label: int, side: int) -> Tensor:
    across = torch.linspace(-1, 1, side)
    down = across[:, None]
    if CLASSES[label] == "disc":
        return across**2 + down**2 <= 1
    if CLASSES[label] == "cross":
        return (across.abs() < 0.35) | (down.abs() < 0.35)
    return torch.ones(side, side, dtype=torch.bool)


def mirrored(image: Tensor, target: Target) -> tuple[Tensor, Target]:
    x1, y1, x2, y2 = target["boxes"].unbind(dim=1)
    width = image.shape[2]
    return image.flip(2), {**target, "boxes": torch.stack([width - x2, y1, width - x1, y2], dim=1)}
