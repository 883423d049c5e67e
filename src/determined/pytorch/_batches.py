"""TrainingBatches: the training data as one endless stream per rank that can be entered at any batch.

All ranks count the batches of the repeated, unsharded data; rank r of R takes those numbered r, r + R, r + 2R …
"""

import itertools
from collections.abc import Generator, Iterable, Iterator
from typing import Any

import torch

from determined._json import JsonObject
from determined.pytorch._batch_order import ComputedOrder, ReplayedOrder, no_batches, order_of
from determined.pytorch._data_random_state import CpuRandomState, SeededIndices, seeds
from determined.pytorch._loader import DataLoader


class TrainingBatches:
    """The training data of one rank, endless. Makes no use of the process's random numbers to order it.

    Args:
        loader: a torch loader, or anything else that can be iterated again, is taken as it comes: its user shards it
            and knows where it begins; it is iterated again whenever it ends.
        num_replicas: number of ranks that share the data.
        rank: this one.
        seed: the same on every rank; decides about order, and about the random numbers of loading workers.

    Attributes:
        epoch_length: batches of this rank in an epoch; None where the data has no length.
    """

    def __init__(self, loader: DataLoader | Iterable[object], *, num_replicas: int, rank: int, seed: int) -> None:
        self._loader = loader
        self._num_replicas = num_replicas
        self._rank = rank
        self._seed = seed
        self._order: ComputedOrder | ReplayedOrder | None = None
        self._stream: Generator[object, None, None] | None = None
        self.epoch_length = self._length()

    def iterate(self, first_batch: int, state: JsonObject | None = None) -> Iterator[Any]:
        """Batches from number `first_batch` (of this rank) on, without end. Ends an iteration that was open.

        Args:
            first_batch: how many batches of this rank were trained.
            state: what `state` gave when they were; without it the order follows from this object's seed.

        Raises:
            InvalidExperimentException: here or with the first batch, when there is not one batch in the data.
        """
        self.close()
        if isinstance(self._loader, DataLoader):
            self._stream = self._shared_stream(self._loader, first_batch, state or {})
        else:
            self._stream = _repeated(self._loader, self._begun_within_an_epoch(self._loader, first_batch))
        return self._stream

    def state(self, next_batch: int) -> JsonObject:
        """Return what `iterate` needs, besides the number, to go on with batch `next_batch` in another process."""
        if self._order is None:
            return {}
        return {"seed": self._seed, **self._order.state(next_batch * self._num_replicas + self._rank)}

    def close(self) -> None:
        """End the iteration and its workers."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _length(self) -> int | None:
        try:
            length = len(self._loader)  # type: ignore[arg-type]  # TypeError where it has no length
        except (TypeError, NotImplementedError):
            return None
        if not isinstance(self._loader, DataLoader):
            return length
        whole, rest = divmod(length, self._num_replicas)
        return whole + (rest > self._rank)

    def _shared_stream(self, loader: DataLoader, first_batch: int, state: JsonObject) -> Generator[object, None, None]:
        if first_batch:  # a trial that begins, with another one's weights, has an order of its own
            self._seed = state.get("seed", self._seed)
        first, stride = first_batch * self._num_replicas + self._rank, self._num_replicas
        self._order = order_of(loader, self._seed, stride, state if first_batch else {})
        indices: Iterable[object] = self._order.batches(first, stride)
        if loader.num_workers:
            indices = map(SeededIndices, indices, itertools.repeat(self._seed), itertools.count(first, stride))
        # Torch draws a seed for its workers wherever it makes an iterator: not from numbers that training uses.
        numbers = torch.Generator()
        numbers.manual_seed(seeds("workers", self._seed, self._rank)[0])
        return _endless(loader._torch_loader(indices, numbers, persistent_workers=False))

    def _begun_within_an_epoch(self, loader: Iterable[object], first_batch: int) -> Iterator[object] | None:
        """Return an iterator made without a trace in the random numbers: the interrupted run made its own long ago.

        Where an epoch begins, an uninterrupted run makes one there too, and both draw the same.
        """
        if first_batch == 0 or (self.epoch_length and first_batch % self.epoch_length == 0):
            return None
        before = CpuRandomState.capture()
        try:
            return iter(loader)
        finally:
            before.restore()


def _endless(loader: torch.utils.data.DataLoader[object]) -> Generator[object, None, None]:
    iterator = iter(loader)
    try:
        yield from iterator
    finally:
        _end_workers(iterator)


def _repeated(loader: Iterable[object], begun: Iterator[object] | None) -> Generator[object, None, None]:
    iterator = begun
    try:
        while True:
            # The rest of an epoch that was begun may be nothing.
            is_empty = iterator is None
            iterator = iter(loader) if iterator is None else iterator
            for batch in iterator:
                is_empty = False
                yield batch
            if is_empty:
                raise no_batches(f"a loader of {type(getattr(loader, 'dataset', loader)).__name__}")
            iterator = None
    finally:
        if iterator is not None and not getattr(loader, "persistent_workers", False):  # those belong to the loader
            _end_workers(iterator)


def _end_workers(iterator: Iterator[object]) -> None:
    """End the workers now, rather than when the iterator is collected: a traceback that a user keeps would keep the
    processes, too."""
    end = getattr(iterator, "_shutdown_workers", None)
    if end is not None:
        end()
