"""Resumable order of training batches (shuffle and sampler state), as indices.

Every batch has a number, counted over all ranks and epochs; after a restart the stream is entered at any of them.
"""

import copy
import itertools
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import BatchSampler, SequentialSampler

from determined._json import JsonObject
from determined.errors import InvalidExperimentException
from determined.pytorch._data_random_state import CpuRandomState, SwappedRandomState
from determined.pytorch._loader import DataLoader
from determined.pytorch.samplers import EpochShuffle

# Batches drawn at once from a sampler of the user's: changing the random numbers costs too much to do it for each.
_DRAWN_AT_ONCE = 256
_CUT_AT_ONCE = 2**16  # indices: more would take memory and hold up a batch, fewer the time of every batch


def order_of(loader: DataLoader, seed: int, num_replicas: int, saved: JsonObject) -> "ComputedOrder | ReplayedOrder":
    sampler = loader.batch_sampler
    # Exactly these: a subclass may order in its own way.
    if type(sampler) is BatchSampler and type(sampler.sampler) in (SequentialSampler, EpochShuffle):
        return ComputedOrder(sampler, seed)
    prefetched = loader.num_workers * (loader.prefetch_factor or 0)
    return ReplayedOrder(sampler, generators_of(loader), seed, saved, (prefetched + 2) * num_replicas + _DRAWN_AT_ONCE)


def generators_of(loader: DataLoader) -> list[torch.Generator]:
    """Return the generators that decide about the order, each once."""
    holders = (loader, loader.batch_sampler, getattr(loader.batch_sampler, "sampler", None))
    generators = [getattr(holder, "generator", None) for holder in holders]
    return list({id(one): one for one in generators if isinstance(one, torch.Generator)}.values())


class ComputedOrder:
    """Batches whose indices follow from their number, in the order of the dataset or shuffled by epoch."""

    def __init__(self, sampler: BatchSampler, seed: int) -> None:
        self._sampler = sampler
        self._indices: Any = sampler.sampler
        self._seed = seed

    def batches(self, first: int, stride: int) -> Iterator[list[int]]:
        size, per_epoch = self._sampler.batch_size, len(self._sampler)
        if per_epoch == 0:
            raise no_batches(f"{len(self._indices)} records, batch_size={size}, drop_last={self._sampler.drop_last}")
        return self._endless(first, stride, size, per_epoch, min(per_epoch * size, len(self._indices)))

    def state(self, number: int) -> JsonObject:
        return {}

    def _endless(self, number: int, stride: int, size: int, per_epoch: int, end: int) -> Iterator[list[int]]:
        while True:
            epoch, offset = divmod(number, per_epoch)
            starts = range(offset * size, end, stride * size)
            if isinstance(self._indices, EpochShuffle):
                yield from _cut(self._indices.permutation(epoch, self._seed), starts, size, end)
            else:
                yield from (list(range(start, min(start + size, end))) for start in starts)
            number += stride * len(starts)


@dataclass(frozen=True, slots=True)
class _Epoch:
    """Start of an epoch: its number, that of its first batch, and the state of the generators."""

    number: int
    first: int
    generators: list[torch.Tensor]


class ReplayedOrder:
    """Batches of a sampler of the user's. Those of earlier epochs are drawn again, as indices, to get to a position.

    While the sampler runs, the process's random numbers are replaced by ones that follow from seed and epoch: what
    training draws meanwhile cannot change the order, and every rank has the same. Generators of its own are kept
    in the state, as they stood when the epoch began.
    """

    def __init__(
        self, sampler: Iterable[object], generators: list[torch.Generator], seed: int, saved: JsonObject, ahead: int
    ) -> None:
        self._sampler = sampler
        self._generators = generators
        self._seed = seed
        self._saved = saved
        self._ahead = ahead  # batches (of all ranks) by which drawing may be before training
        self._begun: deque[_Epoch] = deque()

    def batches(self, first: int, stride: int) -> Iterator[Any]:
        number = 0
        for epoch in itertools.count():
            begin = number
            self._begin(epoch, begin)
            for drawn in self._draw(epoch):
                yield from drawn[first - number if number < first else (first - number) % stride :: stride]
                number += len(drawn)
            if number == begin:
                raise no_batches(f"epoch {epoch} of {type(self._sampler).__name__}")

    def state(self, number: int) -> JsonObject:
        """Return the state of the epoch that batch `number` is in, or of the one before if that was not begun yet."""
        if not self._generators:
            return {}
        begun = [epoch for epoch in self._begun if epoch.first <= number]
        if not begun:
            return {key: self._saved[key] for key in ("epoch", "generators") if key in self._saved}
        return {"epoch": begun[-1].number, "generators": begun[-1].generators}

    def _begin(self, epoch: int, first: int) -> None:
        for sampler in (self._sampler, getattr(self._sampler, "sampler", None)):
            set_epoch = getattr(sampler, "set_epoch", None)
            if callable(set_epoch):
                set_epoch(epoch)
        if epoch == self._saved.get("epoch"):
            for generator, saved in zip(self._generators, self._saved["generators"], strict=False):
                generator.set_state(saved)
        while len(self._begun) > 1 and self._begun[1].first <= first - self._ahead:
            self._begun.popleft()
        if self._generators:
            self._begun.append(_Epoch(epoch, first, [generator.get_state() for generator in self._generators]))

    def _draw(self, epoch: int) -> Iterator[list[object]]:
        random_state = SwappedRandomState(CpuRandomState.seeded("sampler", self._seed, epoch))
        with random_state:
            batches = iter(self._sampler)
        while True:
            with random_state:  # copies, as a sampler may fill the same list again and again
                drawn = [copy.copy(batch) for batch in itertools.islice(batches, _DRAWN_AT_ONCE)]
            if not drawn:
                return
            yield drawn


def _cut(order: torch.Tensor, starts: range, size: int, end: int) -> Iterator[list[int]]:
    """Yield batches of `size` indices from each of `starts`; many at once, as one at a time is ten times slower."""
    full = len(starts) if starts[-1] + size <= end else len(starts) - 1
    if full:
        windows = order[starts[0] : end].unfold(0, size, starts.step)
        for several in windows.split(max(1, _CUT_AT_ONCE // size)):  # type: ignore[no-untyped-call]
            yield from several.tolist()
    if full < len(starts):
        yield order[starts[-1] : end].tolist()


def no_batches(what: str) -> InvalidExperimentException:
    return InvalidExperimentException(
        f"build_training_data_loader returned a loader without a batch ({what}); give it data, a smaller "
        "batch_size, or drop_last=False"
    )
