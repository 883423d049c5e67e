"""Mean average precision: a metric that is no average of batches, so it is put together from all slots at the end."""

from typing import Any

import torch
from data import CLASSES, Target
from torch import Tensor

from determined import pytorch

OVERLAP = 0.5

# Of one class: the scores of its detections, whether each is right, and how many objects there were.
Tally = tuple[Tensor, Tensor, int]


class MeanAveragePrecision(pytorch.MetricReducer):
    """At an overlap of one half, over all classes."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.pictures: list[list[Tally]] = []

    def update(self, found: list[dict[str, Tensor]], targets: list[Target]) -> None:
        """Called from `evaluate_batch`, on every slot with its own pictures."""
        for detected, target in zip(found, targets, strict=True):
            self.pictures.append([tally(detected, target, label) for label in range(len(CLASSES))])

    def per_slot_reduce(self) -> list[list[Tally]]:
        return self.pictures

    def cross_slot_reduce(self, per_slot_metrics: list[Any]) -> float:
        pictures = [picture for slot in per_slot_metrics for picture in slot]
        return sum(average_precision(list(of_class)) for of_class in zip(*pictures, strict=True)) / len(CLASSES)


def tally(detected: dict[str, Tensor], target: Target, label: int) -> Tally:
    """Count each object once: by the most certain detection that overlaps it."""
    boxes = detected["boxes"][detected["labels"] == label]
    objects = target["boxes"][target["labels"] == label]
    right = torch.zeros(len(boxes), dtype=torch.bool)
    if len(boxes) and len(objects):
        overlap, nearest = overlaps(boxes, objects).max(dim=1)
        taken: set[int] = set()
        for at, (share, which) in enumerate(zip(overlap.tolist(), nearest.tolist(), strict=True)):
            right[at] = share >= OVERLAP and which not in taken
            taken |= {which} if right[at] else set()
    return detected["scores"][detected["labels"] == label], right, len(objects)


def overlaps(some: Tensor, others: Tensor) -> Tensor:
    """Intersection over union of each with each."""
    corner = torch.maximum(some[:, None, :2], others[None, :, :2])
    opposite = torch.minimum(some[:, None, 2:], others[None, :, 2:])
    common = (opposite - corner).clamp(min=0).prod(dim=2)
    return common / (area(some)[:, None] + area(others)[None] - common)


def area(boxes: Tensor) -> Tensor:
    return (boxes[:, 2:] - boxes[:, :2]).clamp(min=0).prod(dim=1)


def average_precision(tallies: list[Tally]) -> float:
    """The area under the curve of precision over recall."""
    scores = torch.cat([scores.cpu() for scores, _, _ in tallies])
    right = torch.cat([right for _, right, _ in tallies])[scores.argsort(descending=True, stable=True)]
    objects = sum(number for _, _, number in tallies)
    if not objects or not len(right):
        return 0.0
    precision = right.cumsum(0) / torch.arange(1, len(right) + 1)
    return float(precision[right].sum() / objects)
