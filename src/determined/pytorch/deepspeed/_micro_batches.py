"""A batch in several micro batches: their stream, whose place is counted one by one, and the metrics they have
together."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from torch.utils.data import BatchSampler

from determined._json import JsonObject
from determined.pytorch._batches import TrainingBatches
from determined.pytorch._chunk_metrics import ChunkMetrics, mean_of
from determined.pytorch._loader import DataLoader
from determined.pytorch._metric_columns import Column, is_numeric
from determined.pytorch.deepspeed._mpu import ModelParallelUnit

_POSITION = "micro_batches"


class MicroBatches:
    """The training data of one rank, endless, as `TrainingBatches`; nothing on a rank that loads none.

    Args:
        loader: gives micro batches; None where there is none.
        mpu: which share of the data is this rank's.
        per_batch: micro batches of a batch.
        seed: the same on every rank.

    Attributes:
        epoch_length: batches in an epoch of this rank; None where nobody knows.
    """

    def __init__(self, loader: DataLoader | None, mpu: ModelParallelUnit, *, per_batch: int, seed: int) -> None:
        self._per_batch = per_batch
        self._stream: _Counted | None = None
        self._batches: TrainingBatches | None = None
        self.epoch_length: int | None = None
        if loader is None:
            return
        replicas, rank = mpu.data_parallel_world_size, mpu.data_parallel_rank
        self._batches = TrainingBatches(loader, num_replicas=replicas, rank=rank, seed=seed)
        if self._batches.epoch_length is not None:
            self.epoch_length = self._batches.epoch_length // per_batch

    def iterate(self, first_batch: int, state: JsonObject | None = None) -> Iterator[Any] | None:
        """Micro batches from batch `first_batch` on, or from where `state` says that they were taken up to."""
        if self._batches is None:
            return None
        position = int((state or {}).get(_POSITION, first_batch * self._per_batch))
        self._stream = _Counted(self._batches.iterate(position, state), position)
        return self._stream

    def state(self, next_batch: int) -> JsonObject:
        """Return what `iterate` needs to go on with batch `next_batch` in another process."""
        if self._batches is None or self._stream is None:
            return {}
        return {_POSITION: self._stream.position, **self._batches.state(self._stream.position)}

    def close(self) -> None:
        if self._batches is not None:
            self._batches.close()


class MicroBatchMetrics(ChunkMetrics):
    """Values that `train_batch` returned since the last report, averaged over the calls of each batch.

    Args:
        calls: calls of `train_batch` for one batch.
        counts: whether this rank's metrics are averaged; not where they are those of another rank as well.
    """

    def __init__(self, calls: int, *, counts: bool) -> None:
        super().__init__()
        self._calls = calls
        self._counts = counts

    def add(self, returned: Any) -> None:
        if self._counts:
            super().add(returned)

    def _share(self) -> dict[str, Column] | None:
        columns = self.drain()
        return {name: _joined(column, self._calls) for name, column in columns.items()} if self._counts else None


def is_ragged(loader: object) -> bool:
    """Return whether the last micro batch of an epoch has fewer records than the others, as far as can be told."""
    sampler = getattr(loader, "batch_sampler", None)
    if type(sampler) is not BatchSampler or sampler.drop_last:
        return False
    try:
        records = len(sampler.sampler)  # type: ignore[arg-type]
    except TypeError:  # data without a length
        return False
    return records > sampler.batch_size and records % sampler.batch_size != 0


class _Counted:
    """An iterator that knows how many items were taken, by whoever did."""

    def __init__(self, stream: Iterator[object], position: int) -> None:
        self._stream = stream
        self.position = position

    def __iter__(self) -> "_Counted":
        return self

    def __next__(self) -> Any:
        item = next(self._stream)
        self.position += 1
        return item


def _joined(column: Column, calls: int) -> Column:
    """A value for each batch, of one for each call."""
    if calls == 1:
        return column
    if isinstance(column, np.ndarray) and is_numeric(column):
        means: Column = column.reshape(-1, calls, *column.shape[1:]).mean(axis=1, dtype=np.float64)
        return means
    values = list(column)
    return [mean_of(values[first : first + calls]) for first in range(0, len(values), calls)]
