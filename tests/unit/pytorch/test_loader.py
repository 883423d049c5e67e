"""DataLoader describes a loader: what it refuses, and the torch loaders it makes."""

import itertools
from typing import Any

import pytest
import torch
from torch.utils.data import BatchSampler, DistributedSampler, IterableDataset, RandomSampler, SequentialSampler

from determined.pytorch import samplers
from determined.pytorch._loader import DataLoader, adapt_batch_sampler

DATA: Any = list(range(10))


class Endless(IterableDataset[int]):
    def __iter__(self) -> Any:
        return itertools.count()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"dataset": Endless()}, "disable_dataset_reproducibility_checks"),
        ({"batch_size": None}, "batch_size=None needs a batch_sampler"),
        ({"batch_size": 0}, "batch_size"),
        ({"num_workers": -1}, "num_workers=-1"),
        ({"timeout": -1}, "timeout=-1"),
        ({"num_workers": 1, "prefetch_factor": -1}, "prefetch_factor=-1"),
        ({"prefetch_factor": 2}, "prefetch_factor=2 needs num_workers"),
        ({"persistent_workers": True}, "persistent_workers=True needs num_workers"),
        ({"sampler": [1], "shuffle": True}, "sampler and shuffle=True"),
        ({"batch_sampler": [[1]], "batch_size": 2}, "excludes batch_size"),
        ({"batch_sampler": [[1]], "shuffle": True}, "excludes shuffle"),
        ({"batch_sampler": [[1]], "sampler": [1]}, "excludes sampler"),
        ({"batch_sampler": [[1]], "drop_last": True}, "excludes drop_last"),
    ],
)
def test_arguments_that_do_not_go_together_are_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        DataLoader(**{"dataset": DATA} | arguments)


def test_it_is_iterated_like_torchs_own() -> None:
    loader = DataLoader(DATA, batch_size=4)
    assert [batch.tolist() for batch in loader] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert len(loader) == 3
    assert len(DataLoader(DATA, batch_size=4, drop_last=True)) == 2


def test_a_torch_loader_of_it_is_adapted_and_the_description_is_not() -> None:
    loader = DataLoader(DATA, batch_size=2, collate_fn=list)
    adapted = loader.get_data_loader(repeat=True, skip=2, num_replicas=2, rank=1)
    assert isinstance(adapted, torch.utils.data.DataLoader)
    assert len(adapted) == 2
    assert list(itertools.islice(adapted, 4)) == [[0, 1], [4, 5], [8, 9], [2, 3]]
    assert list(loader) == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]


def test_each_round_is_shuffled_anew_without_random_numbers_of_training() -> None:
    loader = DataLoader(DATA, batch_size=3, shuffle=True, collate_fn=list)
    torch_numbers = torch.get_rng_state()
    first, second = list(loader.batch_sampler), list(loader.batch_sampler)
    assert first != second
    assert sorted(itertools.chain(*first)) == sorted(itertools.chain(*second)) == DATA
    assert torch.equal(torch.get_rng_state(), torch_numbers)


def test_ranks_whose_random_numbers_differ_still_share_a_shuffled_round() -> None:
    """As in validation: each rank makes a loader of its own."""
    seen: list[int] = []
    with torch.random.fork_rng(devices=[]):
        for rank in range(3):
            torch.rand(rank + 1)
            loader = DataLoader(DATA, batch_size=2, shuffle=True, collate_fn=list)
            seen += itertools.chain(*loader.get_data_loader(num_replicas=3, rank=rank))
    assert sorted(seen) == DATA


def test_default_samplers_are_torchs_where_torchs_will_do() -> None:
    generator = torch.Generator()
    assert type(DataLoader(DATA).sampler) is SequentialSampler
    sampler = DataLoader(DATA, shuffle=True, generator=generator).sampler
    assert isinstance(sampler, RandomSampler)
    assert sampler.generator is generator
    assert DataLoader(DATA, sampler=[3, 1]).sampler == [3, 1]


def test_what_was_asked_for_reaches_torch() -> None:
    def first(records: list[Any]) -> Any:
        return records[0]

    loader = DataLoader(DATA, num_workers=2, timeout=3, collate_fn=first, worker_init_fn=print, persistent_workers=True)
    made = loader.get_data_loader()
    assert (made.num_workers, made.timeout, made.collate_fn, made.worker_init_fn) == (2, 3, first, print)
    assert (made.prefetch_factor, made.persistent_workers) == (2, True)
    assert DataLoader(DATA, num_workers=1, prefetch_factor=5).get_data_loader().prefetch_factor == 5


def test_memory_is_pinned_only_where_there_is_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = DataLoader(DATA, pin_memory=True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert list(loader.get_data_loader())[3].tolist() == [3]  # torch would warn, which fails a test
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert loader.get_data_loader().pin_memory


def test_batch_samplers_are_repeated_then_shared_then_skipped() -> None:
    batches = [[0], [1], [2], [3], [4]]
    adapted = adapt_batch_sampler(batches, repeat=True, skip=1, num_replicas=2, rank=0)
    assert list(itertools.islice(adapted, 5)) == [[2], [4], [1], [3], [0]]
    assert adapt_batch_sampler(batches) is batches
    with pytest.raises(ValueError, match="rank=2 is none of 2 shares"):
        adapt_batch_sampler(batches, num_replicas=2, rank=2)
    with pytest.raises(ValueError, match="skip=-1 is negative"):
        adapt_batch_sampler(batches, skip=-1)


def test_data_that_a_sampler_has_divided_already_is_pointed_out_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("determined.pytorch._loader._warned_samplers", set())
    halves: Any = DistributedSampler(DATA, num_replicas=2, rank=1)
    own: Any = samplers.DistributedBatchSampler([[0], [1]], 2, 0)
    DataLoader(DATA, sampler=DistributedSampler(DATA, num_replicas=1, rank=0))
    DataLoader(DATA, batch_sampler=samplers.DistributedBatchSampler([[0]], 1, 0))
    assert caplog.text == ""
    for arguments in ({"sampler": halves}, {"batch_sampler": BatchSampler(halves, 2, False)}, {"batch_sampler": own}):
        DataLoader(DATA, **arguments)
    first, second = [record.getMessage() for record in caplog.records]
    assert "a DistributedSampler in a determined.pytorch.DataLoader divides the data by 2" in first
    assert "leave the sampler out, and say shuffle=True" in first
    assert "a DistributedBatchSampler" in second


def test_a_batch_sampler_decides_the_batches_alone() -> None:
    loader = DataLoader(DATA, batch_sampler=BatchSampler([5, 6, 7], 2, False), collate_fn=list)
    assert list(loader) == [[5, 6], [7]]
    assert loader.batch_size is None
