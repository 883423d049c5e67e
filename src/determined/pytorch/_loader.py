"""DataLoader: describes how data is loaded; the trainer makes torch loaders of it that repeat, skip and are sharded."""

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.utils.data import BatchSampler, Dataset, IterableDataset, RandomSampler, SequentialSampler

from determined.pytorch import samplers

logger = logging.getLogger("determined.pytorch")

_DEEPEST_SAMPLER = 8  # samplers around samplers; one may hold itself
_warned_samplers: set[type] = set()


class DataLoader:
    """Drop-in for `torch.utils.data.DataLoader` in trials: it shards the data over the ranks and resumes anywhere.

    It takes torch's arguments and describes a loader; `get_data_loader` makes one. The batch size is that of one slot:
    `context.get_per_slot_batch_size()`.

    Args:
        dataset: with `__getitem__` and `__len__`.
        batch_size: records per batch and slot.
        shuffle: another order in each epoch. Without `generator` the order follows from the trial's seed.
        sampler: gives indices, instead of `shuffle`.
        batch_sampler: gives lists of indices, instead of `batch_size`, `shuffle`, `sampler` and `drop_last`.
        num_workers: processes that load; 0 loads in the training process.
        collate_fn: makes a batch from a list of records.
        pin_memory: load into memory that copies to the GPU beside the computation; without CUDA it does nothing.
        drop_last: leave out a last batch that is not full.
        timeout: seconds to wait for a worker's batch; 0 waits for ever.
        worker_init_fn: called in every worker with its number.
        multiprocessing_context: how workers are started.
        generator: random numbers of `shuffle`.
        prefetch_factor: batches each worker loads ahead, 2 unless told.
        persistent_workers: keep the workers of a finished round for the next one.

    Raises:
        ValueError: arguments that exclude each other or are out of range, or an `IterableDataset`.

    Example:
        >>> loader = DataLoader(range(10), batch_size=4)
        >>> [batch.tolist() for batch in loader]
        [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    """

    def __init__(
        self,
        dataset: Dataset[object],
        batch_size: int | None = 1,
        shuffle: bool = False,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[list[int]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[object]], object] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: object = None,
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
    ) -> None:
        _check_dataset(dataset)
        _check_sampling(batch_size, shuffle, sampler, batch_sampler, drop_last)
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.collate_fn = collate_fn
        self.pin_memory = pin_memory
        self.drop_last = drop_last
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.persistent_workers = persistent_workers
        self.batch_size = None if batch_sampler is not None else batch_size
        self.sampler = sampler if sampler is not None else _sampler_of(dataset, shuffle, generator)
        if batch_sampler is None:
            batch_sampler = _batches_of(self.sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        _warn_of_shares(batch_sampler)

    def get_data_loader(
        self, repeat: bool = False, skip: int = 0, num_replicas: int = 1, rank: int = 0
    ) -> torch.utils.data.DataLoader[Any]:
        """Return a torch loader of this data.

        Args:
            repeat: begin again whenever the data ends.
            skip: batches (of this rank) to leave out at the beginning.
            num_replicas: number of ranks that share the data.
            rank: which of them loads.

        Raises:
            ValueError: there is no such rank, or `skip` is negative.

        Example:
            >>> loader = DataLoader(range(6), batch_size=2).get_data_loader(num_replicas=2, rank=1)
            >>> [batch.tolist() for batch in loader]
            [[2, 3]]
        """
        adapted = adapt_batch_sampler(self.batch_sampler, repeat, skip, num_replicas, rank)
        return self._torch_loader(adapted, self.generator, self.persistent_workers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get_data_loader())

    def __len__(self) -> int:
        """Return the number of batches of all ranks together in one epoch."""
        return len(self.batch_sampler)  # type: ignore[arg-type]  # TypeError where the sampler has no length

    def _torch_loader(
        self, batch_sampler: Iterable[Any], generator: torch.Generator | None, persistent_workers: bool
    ) -> torch.utils.data.DataLoader[object]:
        return torch.utils.data.DataLoader(
            self.dataset,
            batch_sampler=batch_sampler,
            num_workers=self.num_workers,
            collate_fn=self.collate_fn,
            pin_memory=self.pin_memory and torch.cuda.is_available(),  # torch warns where it cannot
            timeout=self.timeout,
            worker_init_fn=self.worker_init_fn,
            multiprocessing_context=self.multiprocessing_context,
            generator=generator,
            prefetch_factor=self.prefetch_factor,
            persistent_workers=persistent_workers,
        )


def adapt_batch_sampler(
    batch_sampler: Iterable[list[int]], repeat: bool = False, skip: int = 0, num_replicas: int = 1, rank: int = 0
) -> Iterable[list[int]]:
    """Return a batch sampler that repeats, then shards, then skips: shares so go on over the ends of epochs.

    Args:
        batch_sampler: the same, in the same order, on every rank.
        repeat: begin again whenever it ends.
        skip: batches (of this rank) to leave out at the beginning.
        num_replicas: number of ranks that share the batches.
        rank: which of them samples.

    Raises:
        ValueError: there is no such rank, or `skip` is negative.

    Example:
        >>> list(adapt_batch_sampler([[0], [1], [2], [3], [4]], skip=1, num_replicas=2, rank=0))
        [[2], [4]]
    """
    if repeat:
        batch_sampler = samplers.RepeatBatchSampler(batch_sampler)
    if num_replicas != 1:
        batch_sampler = samplers.DistributedBatchSampler(batch_sampler, num_replicas, rank)
    if skip:
        batch_sampler = samplers.SkipBatchSampler(batch_sampler, skip)
    return batch_sampler


def _sampler_of(dataset: Any, shuffle: bool, generator: torch.Generator | None) -> Iterable[int]:
    if not shuffle:
        return SequentialSampler(dataset)
    if generator is not None:
        return RandomSampler(dataset, generator=generator)
    return samplers.EpochShuffle(dataset)


def _batches_of(sampler: Iterable[int], batch_size: int | None, drop_last: bool) -> BatchSampler:
    if batch_size is None:
        raise ValueError("batch_size=None needs a batch_sampler; name a batch_size or give one")
    return BatchSampler(sampler, batch_size, drop_last)


def _warn_of_shares(sampler: Any) -> None:
    """Data that a sampler has divided among the ranks is divided again by the loop: most of it is never seen."""
    for _ in range(_DEEPEST_SAMPLER):
        is_ours = isinstance(sampler, samplers.DistributedSampler)
        shares = sampler._num_workers if is_ours else getattr(sampler, "num_replicas", 1)
        if isinstance(shares, int) and shares > 1 and type(sampler) not in _warned_samplers:
            _warned_samplers.add(type(sampler))
            logger.warning(
                "a %s in a determined.pytorch.DataLoader divides the data by %s, and the DataLoader divides it among "
                "the ranks once more; leave the sampler out, and say shuffle=True if it shuffled",
                type(sampler).__name__,
                shares,
            )
        inner = [getattr(sampler, name, None) for name in ("sampler", "batch_sampler", "_sampler")]
        sampler = next((one for one in inner if one is not None), None)


def _check_dataset(dataset: object) -> None:
    if isinstance(dataset, IterableDataset):
        raise ValueError(
            f"{type(dataset).__name__} is an IterableDataset, which can be neither sharded nor resumed; use a dataset "
            "with __getitem__ and __len__, or return a torch.utils.data.DataLoader after "
            "context.experimental.disable_dataset_reproducibility_checks()"
        )


def _check_sampling(
    batch_size: int | None, shuffle: bool, sampler: object, batch_sampler: object, drop_last: bool
) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler and shuffle=True exclude each other; shuffle inside of the sampler")
    if batch_sampler is None:
        return
    others = {
        "batch_size": batch_size != 1,
        "shuffle": shuffle,
        "sampler": sampler is not None,
        "drop_last": drop_last,
    }
    if any(others.values()):
        named = ", ".join(name for name, is_given in others.items() if is_given)
        raise ValueError(f"batch_sampler excludes {named}; leave it out, the batch_sampler decides it")


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool) -> None:
    if num_workers < 0:
        raise ValueError(f"num_workers={num_workers} is negative; 0 loads in the training process")
    if timeout < 0:
        raise ValueError(f"timeout={timeout} is negative; 0 waits for ever")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError(f"prefetch_factor={prefetch_factor} is negative; name how many batches to load ahead")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(f"prefetch_factor={prefetch_factor} needs num_workers of 1 or more: nobody loads ahead")
    if num_workers == 0 and persistent_workers:
        raise ValueError("persistent_workers=True needs num_workers of 1 or more")
