"""Training batches of loaders that are not ours: taken as they come, and iterated again."""

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import BatchSampler, IterableDataset, Sampler

from determined.errors import InvalidExperimentException
from determined.pytorch._batches import TrainingBatches


def _take(batches: TrainingBatches, count: int, first: int = 0) -> list[Any]:
    taken = list(itertools.islice(batches.iterate(first), count))
    batches.close()
    return taken


def _alone(loader: Any) -> TrainingBatches:
    return TrainingBatches(loader, num_replicas=1, rank=0, seed=1)


def _numbers() -> tuple[Any, ...]:
    return torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()  # type: ignore[index]


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(3))


def test_a_torch_loader_is_repeated_as_it_comes() -> None:
    batches = _alone(torch.utils.data.DataLoader(Stream(), batch_size=2))
    assert batches.epoch_length is None
    assert [batch.tolist() for batch in _take(batches, 4)] == [[0, 1], [2], [0, 1], [2]]
    assert batches.state(4) == {}
    known: Any = list(range(6))
    assert TrainingBatches(torch.utils.data.DataLoader(known), num_replicas=2, rank=1, seed=0).epoch_length == 6


def test_a_torch_loader_entered_where_an_epoch_begins_is_shuffled_as_if_nothing_had_happened() -> None:
    records: Any = list(range(10))

    def stream(first: int) -> Iterator[Any]:
        return _alone(torch.utils.data.DataLoader(records, 2, shuffle=True, collate_fn=list)).iterate(first)

    uninterrupted = stream(0)
    list(itertools.islice(uninterrupted, 10))
    numbers = torch.get_rng_state()
    expected = list(itertools.islice(uninterrupted, 15))
    resumed = stream(10)
    torch.set_rng_state(numbers)
    assert list(itertools.islice(resumed, 15)) == expected


def test_a_torch_loader_entered_within_an_epoch_leaves_the_random_numbers_alone() -> None:
    records: Any = list(range(10))
    skipped = torch.utils.data.DataLoader(records, batch_sampler=BatchSampler(range(6, 10), 2, False), collate_fn=list)
    before = _numbers()
    batches = _alone(skipped)
    stream = batches.iterate(1)
    assert _numbers() == before
    assert next(stream) == [6, 7]
    assert _numbers() == before
    batches.close()


def test_the_rest_of_a_torch_loaders_epoch_may_be_nothing() -> None:
    class Rest(Sampler[int]):
        skip = 6

        def __iter__(self) -> Iterator[int]:
            skip, self.skip = self.skip, 0
            return iter(range(skip, 6))

    records: Any = list(range(6))
    loader = torch.utils.data.DataLoader(records, 2, sampler=Rest(), collate_fn=list)
    assert _take(_alone(loader), 2, 3) == [[0, 1], [2, 3]]


class _Rows:
    """Neither torch's loader nor one of its kind."""

    def __init__(self, *rows: int) -> None:
        self._rows = rows

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)


def test_anything_that_can_be_iterated_again_is_a_loader() -> None:
    batches = _alone(_Rows(1, 2, 3))
    assert batches.epoch_length is None
    assert _take(batches, 5) == [1, 2, 3, 1, 2]
    with pytest.raises(InvalidExperimentException, match="_Rows"):
        _take(_alone(_Rows()), 1)
