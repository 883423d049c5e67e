"""Random numbers of data loading, kept apart from those of training: a sampler's, and a loading worker's.

Of the CPU alone: reading a GPU's generator would wait for the GPU.
"""

import hashlib
import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch


class SeededIndices:
    """Indices of a batch on their way to a worker; there, unpickling turns them into what they were.

    It seeds the worker's random numbers with the number of the batch as it does so: right before the batch is loaded,
    and without a wrapper around the dataset, which users' code would meet. Which worker loads a batch, and what it
    loaded before, no longer matters.
    """

    __slots__ = ("_indices", "_number", "_seed")

    def __init__(self, indices: object, seed: int, number: int) -> None:
        self._indices, self._seed, self._number = indices, seed, number

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _seed_and_return, (self._indices, self._seed, self._number)


class SeededBatches:
    """A batch sampler's batches, seeded anew by the process's random numbers in each iteration: for workers that live
    longer than one, whose own random numbers would depend on how many there were."""

    def __init__(self, batch_sampler: Iterable[object]) -> None:
        self._batch_sampler = batch_sampler

    def __iter__(self) -> Iterator[SeededIndices]:
        # Drawn with the first batch: torch makes two iterators where it makes workers, and uses one.
        seed = int(torch.randint(2**62, (1,)).item())
        yield from map(SeededIndices, self._batch_sampler, itertools.repeat(seed), itertools.count())

    def __len__(self) -> int:
        return len(self._batch_sampler)  # type: ignore[arg-type]  # TypeError where the sampler has no length


class SwappedRandomState:
    """Random numbers that are the process's within `with`, and go on there the next time."""

    def __init__(self, numbers: "CpuRandomState") -> None:
        self._inside = self._outside = numbers

    def __enter__(self) -> None:
        self._outside = CpuRandomState.capture()
        self._inside.restore()

    def __exit__(self, *error: object) -> None:
        self._inside = CpuRandomState.capture()
        self._outside.restore()


@dataclass(frozen=True, slots=True)
class CpuRandomState:
    """State of the random number generators of this process on the CPU."""

    torch_state: torch.Tensor
    numpy_state: Any
    python_state: Any

    @classmethod
    def capture(cls) -> "CpuRandomState":
        return cls(torch.get_rng_state(), np.random.get_state(), random.getstate())

    @classmethod
    def seeded(cls, *what: str | int) -> "CpuRandomState":
        before = cls.capture()
        _seed_all(*what)
        try:
            return cls.capture()
        finally:
            before.restore()

    def restore(self) -> None:
        torch.set_rng_state(self.torch_state)
        np.random.set_state(self.numpy_state)
        random.setstate(self.python_state)


def seeds(*what: str | int) -> tuple[int, int, int]:
    """Return three seeds without relation to those of another batch, epoch or purpose."""
    digest = hashlib.blake2b(":".join(map(str, what)).encode(), digest_size=24).digest()
    return int.from_bytes(digest[:8]), int.from_bytes(digest[8:16]), int.from_bytes(digest[16:])


def _seed_and_return(indices: object, seed: int, number: int) -> object:
    _seed_all("batch", seed, number)
    return indices


def _seed_all(*what: str | int) -> None:
    for_torch, for_numpy, for_python = seeds(*what)
    torch.default_generator.manual_seed(for_torch)  # `torch.manual_seed` would seed the GPUs as well
    np.random.seed(for_numpy % 2**32)
    random.seed(for_python)
