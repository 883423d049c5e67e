"""Samplers around samplers: repeat, shard, skip, shuffle; each in a form for single indices and one for batches.

A torch loader with workers asks a sampler for two iterators and uses one. What happens once per iteration happens
therefore with the first item, in a generator, and not in the call of `iter`.

`determined.pytorch.DataLoader` puts them together by itself. For a loader made by hand the order is: shuffle, repeat,
shard, batch, skip.
"""

import itertools
from collections.abc import Iterable, Iterator, Sized
from typing import Any, TypeVar

import numpy as np
import torch
from torch.utils.data import BatchSampler, Sampler

__all__ = [
    "DistributedBatchSampler",
    "DistributedSampler",
    "EpochShuffle",
    "RepeatBatchSampler",
    "RepeatSampler",
    "ReproducibleShuffleBatchSampler",
    "ReproducibleShuffleSampler",
    "SkipBatchSampler",
    "SkipSampler",
]

T = TypeVar("T")


class RepeatSampler(Sampler[T]):
    """Sampler that begins again whenever `sampler` ends. Its length is that of one round.

    Args:
        sampler: what to repeat.

    Raises:
        ValueError: while iterating, when a round has nothing in it.

    Example:
        >>> list(itertools.islice(RepeatSampler([0, 1, 2]), 5))
        [0, 1, 2, 0, 1]
    """

    def __init__(self, sampler: Iterable[T]) -> None:
        self._sampler = sampler

    def __iter__(self) -> Iterator[T]:
        while True:
            is_empty = True
            for item in self._sampler:
                is_empty = False
                yield item
            if is_empty:
                raise ValueError("there is nothing to repeat: the sampler is empty; check the dataset and drop_last")

    def __len__(self) -> int:
        return _length(self._sampler)


class RepeatBatchSampler(RepeatSampler[list[int]], BatchSampler):
    """`RepeatSampler` for batches.

    Args:
        batch_sampler: what to repeat.
    """

    def __init__(self, batch_sampler: Iterable[list[int]]) -> None:
        RepeatSampler.__init__(self, batch_sampler)


class DistributedSampler(Sampler[T]):
    """Share of one worker: every `num_workers`-th item, from the `rank`-th on.

    Args:
        sampler: what to share; the same, in the same order, on every worker.
        num_workers: number of shares.
        rank: which share, from 0.

    Raises:
        ValueError: there is no such share.

    Example:
        >>> list(DistributedSampler(range(7), num_workers=3, rank=1))
        [1, 4]
    """

    def __init__(self, sampler: Iterable[T], num_workers: int, rank: int) -> None:
        if num_workers < 1:
            raise ValueError(f"num_workers={num_workers} is not a number of shares; it must be 1 or more")
        if not 0 <= rank < num_workers:
            raise ValueError(f"rank={rank} is none of {num_workers} shares; it must be from 0 to {num_workers - 1}")
        self._sampler = sampler
        self._num_workers = num_workers
        self._rank = rank

    def __iter__(self) -> Iterator[T]:
        return itertools.islice(self._sampler, self._rank, None, self._num_workers)

    def __len__(self) -> int:
        whole, rest = divmod(_length(self._sampler), self._num_workers)
        return whole + (rest > self._rank)


class DistributedBatchSampler(DistributedSampler[list[int]], BatchSampler):
    """`DistributedSampler` for batches: a batch stays whole and goes to one worker.

    Args:
        batch_sampler: what to share; the same, in the same order, on every worker.
        num_workers: number of shares.
        rank: which share, from 0.

    Raises:
        ValueError: there is no such share.
    """

    def __init__(self, batch_sampler: Iterable[list[int]], num_workers: int, rank: int) -> None:
        DistributedSampler.__init__(self, batch_sampler, num_workers, rank)


class SkipSampler(Sampler[T]):
    """Sampler that leaves out the first `skip` items of the first iteration. Its length is that of `sampler`.

    To go on in the middle of an endless stream: repeat first, then skip, so that `skip` may be beyond the first round.

    Args:
        sampler: what to go on with.
        skip: how many items to leave out.

    Raises:
        ValueError: `skip` is negative.

    Example:
        >>> sampler = SkipSampler(range(4), 3)
        >>> list(sampler), list(sampler)
        ([3], [0, 1, 2, 3])
    """

    def __init__(self, sampler: Iterable[T], skip: int) -> None:
        if skip < 0:
            raise ValueError(f"skip={skip} is negative; it must be 0 or more")
        self._sampler = sampler
        self._skip = skip

    def __iter__(self) -> Iterator[T]:
        skip, self._skip = self._skip, 0
        yield from itertools.islice(self._sampler, skip, None)

    def __len__(self) -> int:
        return _length(self._sampler)


class SkipBatchSampler(SkipSampler[list[int]], BatchSampler):
    """`SkipSampler` for batches.

    Args:
        batch_sampler: what to go on with.
        skip: how many batches to leave out.

    Raises:
        ValueError: `skip` is negative.
    """

    def __init__(self, batch_sampler: Iterable[list[int]], skip: int) -> None:
        SkipSampler.__init__(self, batch_sampler, skip)


class ReproducibleShuffleSampler(Sampler[T]):
    """Sampler that shuffles `sampler` anew in each iteration, by random numbers of its own.

    Args:
        sampler: what to shuffle.
        seed: where its random numbers begin. The n-th iteration is the same for the same seed.

    Example:
        >>> first, second = (ReproducibleShuffleSampler(range(10), seed=1) for _ in range(2))
        >>> list(first) == list(second)
        True
    """

    def __init__(self, sampler: Iterable[T], seed: int) -> None:
        self._sampler = sampler
        self._random = np.random.RandomState(seed)

    def __iter__(self) -> Iterator[T]:
        items: list[Any] = list(self._sampler)
        self._random.shuffle(items)
        yield from items

    def __len__(self) -> int:
        return _length(self._sampler)


class ReproducibleShuffleBatchSampler(ReproducibleShuffleSampler[list[int]], BatchSampler):
    """`ReproducibleShuffleSampler` for batches: their order is shuffled, what is in a batch stays together.

    Args:
        batch_sampler: what to shuffle.
        seed: where its random numbers begin.
    """

    def __init__(self, batch_sampler: Iterable[list[int]], seed: int) -> None:
        ReproducibleShuffleSampler.__init__(self, batch_sampler, seed)


class EpochShuffle(Sampler[int]):
    """Indices of a dataset in an order that follows from the seed and the number of the epoch alone.

    Unlike with `torch.utils.data.RandomSampler`, any epoch can be entered without drawing the earlier ones, and no
    random number is taken from anyone. Iterating goes on to the next epoch by itself.

    Args:
        data_source: what is shuffled; only its length counts.
        seed: None follows the seed of the training.

    Example:
        >>> sampler = EpochShuffle(range(100), seed=3)
        >>> first, second = list(sampler), list(sampler)
        >>> sampler.set_epoch(0)
        >>> list(sampler) == first != second
        True
    """

    def __init__(self, data_source: Sized, seed: int | None = None) -> None:
        self._data_source = data_source
        self._epoch = 0
        self.seed = seed

    def set_epoch(self, epoch: int) -> None:
        """The next iteration is that of `epoch`."""
        self._epoch = epoch

    def permutation(self, epoch: int, seed: int) -> torch.Tensor:
        """The order of an epoch; `seed` counts where none was given."""
        generator = torch.Generator()
        generator.manual_seed(_mixed(seed if self.seed is None else self.seed, epoch))
        return torch.randperm(len(self), generator=generator)

    def __iter__(self) -> Iterator[int]:
        epoch, self._epoch = self._epoch, self._epoch + 1
        yield from self.permutation(epoch, torch.initial_seed()).tolist()

    def __len__(self) -> int:
        return len(self._data_source)


def _mixed(seed: int, epoch: int) -> int:
    """A seed of its own for every pair; neighbouring seeds and epochs have nothing in common."""
    state = np.random.SeedSequence((seed % 2**64, epoch)).generate_state(1, np.uint64)
    return int(state[0])


def _length(sampler: Iterable[object]) -> int:
    return len(sampler)  # type: ignore[arg-type]  # TypeError, as from `len`, where a sampler has none
