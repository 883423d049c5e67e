"""Names of release 0.12.0 for data: InMemorySequence and KerasDataAdapter."""

import math

from determined.keras._inputs import ArrayLike, SequenceAdapter
from determined.keras._tensorflow import keras


class InMemorySequence(keras.utils.Sequence):  # type: ignore[misc]
    """Arrays in memory as a Sequence of batches.

    Args:
        data: the inputs, one record per row.
        labels: the targets.
        batch_size: records of a batch.
        sample_weight: a weight per record, or None.
        drop_leftovers: leave out a last batch that is not full.

    Raises:
        ValueError: arrays of different lengths, or shorter than a batch.
    """

    def __init__(
        self,
        data: ArrayLike,
        labels: ArrayLike,
        batch_size: int,
        sample_weight: ArrayLike = None,
        drop_leftovers: bool = False,
    ) -> None:
        super().__init__()
        self._arrays = [array for array in (data, labels, sample_weight) if array is not None]
        self._batch_size = batch_size
        self._round = math.floor if drop_leftovers else math.ceil
        lengths = {len(array) for array in self._arrays}
        if len(lengths) != 1 or min(lengths) < batch_size:
            raise ValueError(
                f"InMemorySequence got arrays of {sorted(lengths)} records for batches of {batch_size}; they need one "
                "length, of at least one batch"
            )

    def __len__(self) -> int:
        return self._round(len(self._arrays[0]) / self._batch_size)

    def __getitem__(self, index: int) -> tuple[ArrayLike, ...]:
        rows = slice(index * self._batch_size, (index + 1) * self._batch_size)
        return tuple(array[rows] for array in self._arrays)


class KerasDataAdapter(SequenceAdapter):
    """SequenceAdapter under its first name, with its first parameter called `data`."""

    def __init__(
        self, data: object, use_multiprocessing: bool = False, workers: int = 1, max_queue_size: int = 10
    ) -> None:
        super().__init__(data, use_multiprocessing, workers, max_queue_size)

    def __len__(self) -> int:
        return len(self.sequence)
