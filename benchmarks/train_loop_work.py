"""The work that every loop of train_loop.py does: one model, one data source, the plain loop, and the switch that runs
the plain loop and another one in turns.

Needs torch alone.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

REPORT_EVERY = 100
WARM_UP = 2 * REPORT_EVERY
_FEATURES, _CLASSES = 64, 10
_ENDLESS = 2**31
_ROWS = 4  # different batches, over and over; those whose loss is reported are the same one
_NARROWEST, _WIDEST = 8, 2**15


@dataclass(frozen=True, slots=True)
class Size:
    """Work of one step: a perceptron of three layers, `width` wide, on a batch; it may read other memory as well."""

    width: int
    batch: int
    device: str
    elsewhere: int = 0  # MiB

    def model(self) -> nn.Module:
        torch.manual_seed(1)
        inner = nn.Linear(self.width, self.width)
        layers = [nn.Linear(_FEATURES, self.width), nn.ReLU(), inner, nn.ReLU(), nn.Linear(self.width, _CLASSES)]
        return nn.Sequential(*layers, *([_Elsewhere(self.elsewhere)] if self.elsewhere else []))

    def ready_model(self) -> nn.Module:
        return self.model().to(self.device)


class _Elsewhere(nn.Module):
    """Reads memory that nobody else uses, so that the next step finds the caches cold."""

    def __init__(self, mib: int) -> None:
        super().__init__()
        self._memory = [torch.ones(mib * 2**18)]  # in a list: neither a parameter nor a buffer, which would be moved

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        self._memory[0].sum()
        return batch


@dataclass(frozen=True, slots=True)
class Case:
    """Measurement: so many pairs, taken in turns of `stride` steps."""

    size: Size
    stride: int
    pairs: int

    @property
    def steps(self) -> int:
        """With the batch after the last one, whose fetching ends the last stride."""
        return WARM_UP + self.pairs * REPORT_EVERY + 1


class Batches(torch.utils.data.Dataset[Any]):
    """Batches that lie ready in memory (pinned for a GPU), cut out as a whole: fetching one costs next to nothing.

    `meanwhile` is called before each batch is handed out; a loop that somebody else owns is interrupted there.
    """

    def __init__(self, size: Size, steps: int, meanwhile: "Switch | None" = None) -> None:
        chance = torch.Generator().manual_seed(1)
        inputs = torch.randn(_ROWS, size.batch, _FEATURES, generator=chance)
        labels = torch.randint(_CLASSES, (_ROWS, size.batch), generator=chance)
        if size.device != "cpu":
            inputs, labels = inputs.pin_memory(), labels.pin_memory()
        self._ready = list(zip(inputs, labels, strict=True))
        self._batch = size.batch
        self._length = steps * size.batch
        self._meanwhile = meanwhile

    def __len__(self) -> int:
        return self._length

    def __getitems__(self, indices: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        if self._meanwhile is not None:
            self._meanwhile.fetched()
        return self._ready[indices[0] // self._batch % _ROWS]


def as_it_is(batch: Any) -> Any:
    """The collate function: a batch is one already."""
    return batch


def as_fields(batch: tuple[torch.Tensor, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {"inputs": batch[0], "labels": batch[1]}


def loader(dataset: Batches, size: Size, collate: Any = as_it_is) -> "torch.utils.data.DataLoader[Any]":
    return torch.utils.data.DataLoader(
        dataset, batch_size=size.batch, collate_fn=collate, pin_memory=size.device != "cpu"
    )


def plain_loop(size: Size, stride: int, batches: Batches, reported: list[float]) -> Iterator[None]:
    """The loop by hand, which rests after each `stride` steps."""
    device = torch.device(size.device)
    model = size.ready_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    compute = nn.CrossEntropyLoss()
    losses: list[torch.Tensor] = []
    for step, batch in enumerate(loader(batches, size), 1):
        inputs, labels = batch[0].to(device, non_blocking=True), batch[1].to(device, non_blocking=True)
        loss = compute(model(inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
        if step % REPORT_EVERY == 0:
            reported.append(torch.stack(losses).mean().item())
            losses.clear()
        if step % stride == 0:
            yield


class Switch:
    """Runs the plain loop for a stride whenever the other loop has done a stride, and keeps both times.

    A pair is the time of REPORT_EVERY steps of each, in strides that alternate, so that it holds one report and what
    drifts (clock rates, neighbours) meets both alike.
    """

    def __init__(self, size: Size, stride: int) -> None:
        self._plain = plain_loop(size, stride, Batches(size, _ENDLESS), [])
        self._size, self._stride = size, stride
        self._fetched = 0
        self._resumed = self._spent_plain = 0.0
        self._strides: list[tuple[float, float]] = []
        for _ in range(max(1, 20 // stride)):  # its model, its loader and first steps, as the other warms up by itself
            next(self._plain)

    def fetched(self) -> None:
        """Before each batch of the other loop."""
        number, self._fetched = self._fetched, self._fetched + 1
        if number < WARM_UP or number % self._stride:
            return
        now = _now(self._size)
        if number > WARM_UP:
            self._strides.append((self._spent_plain, now - self._resumed))
        self._spent_plain = self._turn(now)

    def pairs(self) -> list[tuple[float, float]]:
        """Seconds a step of the plain and of the other loop, for each pair."""
        together = REPORT_EVERY // self._stride
        found = []
        for begin in range(0, len(self._strides) - together + 1, together):
            chosen = self._strides[begin : begin + together]
            found.append(
                (sum(plain for plain, _ in chosen) / REPORT_EVERY, sum(other for _, other in chosen) / REPORT_EVERY)
            )
        return found

    def _turn(self, begin: float) -> float:
        if not torch.is_grad_enabled():
            raise RuntimeError("the other loop fetches its batches without gradients; the plain loop cannot run there")
        next(self._plain)
        self._resumed = _now(self._size)
        return self._resumed - begin


def calibrated(target: float, batch: int, device: str) -> Size:
    """The width whose plain step takes about `target` seconds, or the narrowest one."""
    low, high = _NARROWEST, _WIDEST
    while high > 1.1 * low + 1:
        middle = round((low * high) ** 0.5)
        if seconds_per_step(Size(middle, batch, device), target) < target:
            low = middle
        else:
            high = middle
    return Size(low, batch, device)


def seconds_per_step(size: Size, expected: float) -> float:
    """The best of a few short runs of the plain loop; gives up early where a step is far too slow."""
    stride = max(1, min(50, int(0.05 / expected)))
    plain = plain_loop(size, stride, Batches(size, _ENDLESS), [])
    next(plain)
    best = float("inf")
    for _ in range(3):
        begin = _now(size)
        next(plain)
        best = min(best, (_now(size) - begin) / stride)
        if best > 4 * expected:
            return best
    return best


def _now(size: Size) -> float:
    """Return the time when everything that was asked for is done."""
    if size.device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter()
