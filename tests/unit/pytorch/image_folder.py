"""Folders of pictures and ways to vary them, under the names that torchvision gives them: it is not installed here."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

CLASSES, PER_CLASS, SIZE = 6, 4, 12


def write_pictures(root: Path) -> None:
    """`root/<class>/<number>.npy`: each class has its own brightness in each colour."""
    random = np.random.default_rng(0)
    for label in range(CLASSES):
        folder = root / f"class{label}"
        folder.mkdir(parents=True)
        colour = random.integers(40, 216, 3)
        for number in range(PER_CLASS):
            noise = random.integers(-20, 21, (SIZE, SIZE, 3))
            np.save(folder / f"{number}.npy", (colour + noise).astype(np.uint8))


class ImageFolder(torch.utils.data.Dataset[Any]):
    def __init__(self, root: str, transform: Callable[[Any], torch.Tensor]) -> None:
        self.files = sorted(Path(root).glob("*/*.npy"))
        self.classes = sorted({file.parent.name for file in self.files})
        self.transform = transform

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        file = self.files[index]
        return self.transform(np.load(file)), self.classes.index(file.parent.name)


class Compose:
    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image


class RandomResizedCrop:
    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, image: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        side = int(torch.randint(SIZE // 2, SIZE + 1, ()))
        top, left = torch.randint(SIZE - side + 1, (2,)).tolist()
        part = torch.from_numpy(image[top : top + side, left : left + side]).permute(2, 0, 1).float()
        resized = functional.interpolate(part[None], size=(self.size, self.size), mode="bilinear")[0]
        return resized.permute(1, 2, 0).numpy().astype(np.uint8)


class RandomHorizontalFlip:
    def __call__(self, image: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return image[:, ::-1].copy() if torch.rand(()) < 0.5 else image


class ToTensor:
    def __call__(self, image: np.ndarray[Any, Any]) -> torch.Tensor:
        return torch.from_numpy(image).permute(2, 0, 1).float() / 255


class Normalize:
    def __init__(self, mean: list[float], std: list[float]) -> None:
        self.mean, self.std = torch.tensor(mean)[:, None, None], torch.tensor(std)[:, None, None]

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return (image - self.mean) / self.std
