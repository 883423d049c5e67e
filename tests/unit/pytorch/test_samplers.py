"""Samplers around samplers: what they give, and how long they say they are."""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import BatchSampler, Dataset, SequentialSampler
from torch.utils.data import DataLoader as TorchLoader

from determined.pytorch import samplers


def _batches(n: int, size: int = 2) -> BatchSampler:
    return BatchSampler(SequentialSampler(range(n)), size, False)


def test_a_repeated_sampler_has_no_end_and_the_length_of_a_round() -> None:
    repeated = samplers.RepeatSampler(range(3))
    assert list(itertools.islice(repeated, 7)) == [0, 1, 2, 0, 1, 2, 0]
    assert len(repeated) == 3
    assert list(itertools.islice(samplers.RepeatBatchSampler(_batches(3)), 3)) == [[0, 1], [2], [0, 1]]


def test_an_empty_sampler_is_not_repeated_for_ever() -> None:
    with pytest.raises(ValueError, match="nothing to repeat"):
        next(iter(samplers.RepeatSampler([])))


@settings(deadline=None)
@given(n=st.integers(0, 50), workers=st.integers(1, 9))
def test_shares_have_the_length_they_say_and_make_up_the_whole(n: int, workers: int) -> None:
    shares = [samplers.DistributedSampler(range(n), workers, rank) for rank in range(workers)]
    assert [len(share) for share in shares] == [len(list(share)) for share in shares]
    assert sorted(itertools.chain(*shares)) == list(range(n))


@settings(deadline=None)
@given(n=st.integers(1, 20), workers=st.integers(1, 9), taken=st.integers(1, 40))
def test_shares_of_repeated_batches_go_on_over_the_end_of_an_epoch(n: int, workers: int, taken: int) -> None:
    endless = itertools.islice(itertools.cycle(list(_batches(n))), taken * workers)
    repeated = samplers.RepeatBatchSampler(_batches(n))
    shares = [iter(samplers.DistributedBatchSampler(repeated, workers, rank)) for rank in range(workers)]
    assert list(endless) == [next(shares[number % workers]) for number in range(taken * workers)]


@pytest.mark.parametrize("kind", [samplers.DistributedSampler, samplers.DistributedBatchSampler])
@pytest.mark.parametrize(("workers", "rank"), [(0, 0), (-1, 0), (2, 2), (2, -1)])
def test_a_share_that_does_not_exist_is_refused(kind: Callable[..., Any], workers: int, rank: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        kind([[0]], workers, rank)


def test_skipping_happens_once_and_does_not_change_the_length() -> None:
    sampler = samplers.SkipSampler(range(4), 3)
    assert [list(sampler), list(sampler), len(sampler)] == [[3], [0, 1, 2, 3], 4]
    assert list(samplers.SkipBatchSampler(_batches(4), 1)) == [[2, 3]]
    assert list(samplers.SkipSampler(range(2), 5)) == []
    with pytest.raises(ValueError, match="skip=-1 is negative"):
        samplers.SkipSampler(range(2), -1)


def test_a_reproducible_shuffle_is_the_same_as_in_earlier_releases() -> None:
    shuffled = samplers.ReproducibleShuffleSampler(range(10), 7)
    assert [list(shuffled), list(shuffled)] == [[8, 5, 0, 2, 1, 9, 7, 3, 6, 4], [1, 3, 2, 5, 9, 0, 4, 6, 7, 8]]
    batches = samplers.ReproducibleShuffleBatchSampler([[i] for i in range(10)], 7)
    assert list(batches) == [[8], [5], [0], [2], [1], [9], [7], [3], [6], [4]]
    assert (len(shuffled), len(batches)) == (10, 10)


@settings(deadline=None)
@given(n=st.integers(0, 60), seed=st.integers(0, 2**64 - 1), epoch=st.integers(0, 10**9))
def test_an_epoch_shuffle_has_every_index_once(n: int, seed: int, epoch: int) -> None:
    sampler = samplers.EpochShuffle(range(n), seed)
    sampler.set_epoch(epoch)
    assert sorted(sampler) == list(range(n)) == sorted(sampler)
    assert len(sampler) == n


def test_an_epoch_shuffle_follows_from_seed_and_epoch_and_draws_from_nobody() -> None:
    before = torch.get_rng_state()
    sampler = samplers.EpochShuffle(range(50), seed=1)
    first, second = list(sampler), list(sampler)
    assert first != second
    sampler.set_epoch(1)
    assert list(sampler) == second == samplers.EpochShuffle(range(50)).permutation(1, 1).tolist()
    assert list(samplers.EpochShuffle(range(50), seed=2)) != first
    assert torch.equal(torch.get_rng_state(), before)


def test_an_epoch_shuffle_without_a_seed_follows_the_process() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(1)
        assert list(samplers.EpochShuffle(range(50))) == list(samplers.EpochShuffle(range(50), seed=1))


@pytest.mark.parametrize(
    "sampler",
    [
        samplers.RepeatBatchSampler(_batches(4)),
        samplers.DistributedBatchSampler(_batches(4), 2, 0),
        samplers.SkipBatchSampler(_batches(4), 1),
        samplers.ReproducibleShuffleBatchSampler(_batches(4), 1),
    ],
)
def test_samplers_of_batches_pass_for_torchs_own(sampler: Iterable[list[int]]) -> None:
    assert isinstance(sampler, BatchSampler)


def test_a_sampler_without_a_length_has_none_around_it_either() -> None:
    with pytest.raises(TypeError):
        len(samplers.RepeatSampler(i for i in range(3)))


class _Numbers(Dataset[int]):
    def __getitem__(self, index: int) -> int:
        return index

    def __len__(self) -> int:
        return 6


@pytest.mark.parametrize("workers", [0, 1])
def test_torch_makes_one_iteration_of_a_sampler_whatever_number_of_iterators_it_asks_for(workers: int) -> None:
    def loaded(**sampling: Any) -> list[Any]:
        loader: Any = TorchLoader(_Numbers(), num_workers=workers, collate_fn=list, **sampling)
        return [list(loader), list(loader)]

    skipping = samplers.SkipBatchSampler(_batches(6), 2)
    assert loaded(batch_sampler=skipping) == [[[4, 5]], [[0, 1], [2, 3], [4, 5]]]
    batch_shuffles = [samplers.ReproducibleShuffleBatchSampler(_batches(6), seed=4) for _ in range(2)]
    assert loaded(batch_sampler=batch_shuffles[0]) == [list(batch_shuffles[1]), list(batch_shuffles[1])]
    shuffles = [samplers.ReproducibleShuffleSampler(range(6), seed=4) for _ in range(2)]
    by_index = [[[index] for index in shuffles[1]] for _ in range(2)]
    assert loaded(sampler=shuffles[0]) == by_index


def test_asking_for_an_iterator_alone_begins_no_epoch() -> None:
    asked, other = (samplers.EpochShuffle(range(50), seed=2) for _ in range(2))
    iter(asked)
    assert list(asked) == list(other)
