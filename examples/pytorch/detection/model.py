"""A small detector: for every 4 x 4 pixels, how likely an object of each class has its centre there, and its box.

A network of this kind has no anchors and no second stage: a peak of the map is a detection.
"""

import torch
from data import CLASSES, Target
from torch import Tensor, nn
from torch.nn import functional

STRIDE = 4
MOST = 12  # detections of one picture

Maps = dict[str, Tensor]


class Detector(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            block(3, width, stride=2),
            block(width, 2 * width, stride=2),
            block(2 * width, 2 * width),
            block(2 * width, 2 * width),
        )
        self.centres = nn.Conv2d(2 * width, len(CLASSES), 1)
        self.boxes = nn.Conv2d(2 * width, 4, 1)
        nn.init.constant_(self.centres.bias, -4.0)  # at first, objects are rare everywhere

    def forward(self, images: list[Tensor]) -> Maps:
        """Maps of `centres` (one per class, before the sigmoid) and `boxes` (distances to the sides, in strides)."""
        features = self.body(padded(images))
        return {"centres": self.centres(features), "boxes": functional.softplus(self.boxes(features))}


def block(inputs: int, outputs: int, stride: int = 1) -> nn.Module:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, padding=1), nn.GroupNorm(4, outputs), nn.ReLU())


def padded(images: list[Tensor]) -> Tensor:
    """Stack them into one tensor, as large as the largest."""
    height, width = (max(image.shape[side] for image in images) for side in (1, 2))
    return torch.stack(
        [functional.pad(image, (0, width - image.shape[2], 0, height - image.shape[1])) for image in images]
    )


def losses(maps: Maps, targets: list[Target]) -> dict[str, Tensor]:
    """Compute what training makes small: `centre_loss`, a focal loss, and `box_loss`, at the centres of the objects."""
    wanted = torch.zeros_like(maps["centres"])
    found, boxes = [], []
    for picture, target in enumerate(targets):
        x, y = cells(target["boxes"])
        wanted[picture, target["labels"], y, x] = 1.0
        found.append(maps["boxes"][picture, :, y, x].T)
        boxes.append(sides(target["boxes"], x, y))
    objects = max(sum(len(box) for box in boxes), 1)
    return {
        "centre_loss": focal_loss(maps["centres"], wanted) / objects,
        "box_loss": functional.l1_loss(torch.cat(found), torch.cat(boxes), reduction="sum") / objects,
    }


def detections(maps: Maps) -> list[dict[str, Tensor]]:
    """For each picture its `boxes`, `labels` and `scores`, the most certain first."""
    chances = maps["centres"].sigmoid()
    peaks = chances * (functional.max_pool2d(chances, 3, stride=1, padding=1) == chances)
    scores, places = peaks.flatten(1).topk(MOST)
    height, width = chances.shape[2:]
    return [
        {
            "boxes": box_at(maps["boxes"][picture], place % width, place // width % height),
            "labels": place // (width * height),
            "scores": score,
        }
        for picture, (score, place) in enumerate(zip(scores, places, strict=True))
    ]


def focal_loss(logits: Tensor, wanted: Tensor) -> Tensor:
    chances = logits.sigmoid()
    error = torch.where(wanted > 0, 1 - chances, chances)
    return (error**2 * functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")).sum()


def cells(boxes: Tensor) -> tuple[Tensor, Tensor]:
    """Column and row of the cells that the boxes' centres lie in."""
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    x, y = (centres / STRIDE).long().unbind(dim=1)
    return x, y


def sides(boxes: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Distances of the sides from the middle of the cell: left, top, right, bottom."""
    middle = torch.stack([x, y, x, y], dim=1) + 0.5
    sign = torch.tensor([-1.0, -1.0, 1.0, 1.0], device=boxes.device)
    return sign * (boxes / STRIDE - middle)


def box_at(distances: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """The inverse of `sides`."""
    middle = torch.stack([x, y, x, y], dim=1) + 0.5
    sign = torch.tensor([-1.0, -1.0, 1.0, 1.0], device=distances.device)
    return STRIDE * (middle + sign * distances[:, y, x].T)
