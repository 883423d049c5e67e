"""Data that a trial's loaders may return: arrays, Sequences and datasets; the first two as batches that can be entered
anywhere: any batch of any epoch."""

import logging
import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from determined.errors import InvalidExperimentException
from determined.keras._tensorflow import KERAS_3, keras, tf

if TYPE_CHECKING:
    from keras.utils import PyDataset

# (x, y) or (x, y, sample_weights), a tf.data.Dataset, a keras.utils.Sequence or a SequenceAdapter.
InputData = Any
ArrayLike = Any  # a numpy array, a list of them, or a dict of them by input name
KerasInputData = InputData  # its name in 0.12.0

logger = logging.getLogger("determined.keras")

_ACCEPTED = (
    "return arrays (x, y) or (x, y, sample_weights), a tf.data.Dataset, a keras.utils.Sequence or a SequenceAdapter"
)


class SequenceAdapter:
    """A Sequence and how to read it; `context.configure_fit` says the same for all data.

    Args:
        sequence: a `keras.utils.Sequence`.
        use_multiprocessing: accepted for older trials; threads are used.
        workers: threads that read ahead.
        max_queue_size: how many batches are read ahead.
    """

    def __init__(
        self, sequence: "PyDataset", use_multiprocessing: bool = False, workers: int = 1, max_queue_size: int = 10
    ) -> None:
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self.workers = workers
        self.max_queue_size = max_queue_size


class BatchSource(Protocol):
    """Batches of one epoch after the other."""

    def __len__(self) -> int:
        """Batches of an epoch."""

    def batch(self, epoch: int, index: int) -> tuple[ArrayLike, ...]:
        """The batch at place `index` of an epoch."""

    def begin_epoch(self, epoch: int) -> None:
        """Run before the first batch of an epoch."""

    def end_epoch(self, epoch: int) -> None:
        """Run after its last."""


class ArrayBatches:
    """Arrays of one length, in batches; records are shuffled anew in each epoch."""

    def __init__(self, arrays: Sequence[ArrayLike], batch_size: int, *, shuffle: bool, seed: int, call: str) -> None:
        self._arrays = tuple(tf.nest.map_structure(_array, _tuples(part)) for part in arrays)
        self._batch_size = batch_size
        self._seed = seed if shuffle else None
        self._records = _common_length(tf.nest.flatten(self._arrays), batch_size, call)
        self._order: tuple[int, npt.NDArray[np.int64]] | None = None  # of the epoch it was last asked for

    def __len__(self) -> int:
        return math.ceil(self._records / self._batch_size)

    def batch(self, epoch: int, index: int) -> tuple[ArrayLike, ...]:
        chosen: Any = slice(index * self._batch_size, (index + 1) * self._batch_size)
        if self._seed is not None:
            chosen = self._order_of(epoch, self._seed)[chosen]
        return tuple(tf.nest.map_structure(lambda array: array[chosen], self._arrays))

    def begin_epoch(self, epoch: int) -> None:
        return

    def end_epoch(self, epoch: int) -> None:
        return

    def _order_of(self, epoch: int, seed: int) -> npt.NDArray[np.int64]:
        if self._order is None or self._order[0] != epoch:
            self._order = (epoch, np.random.default_rng([seed, epoch]).permutation(self._records))
        return self._order[1]


class SequenceBatches:
    """A Keras Sequence, whose batches come in another order in each epoch."""

    def __init__(self, sequence: "PyDataset", *, shuffle: bool, seed: int) -> None:
        self._sequence = sequence
        self._shuffle = shuffle
        self._seed = seed
        self._batches = _batches_of(sequence)

    def __len__(self) -> int:
        return self._batches

    def batch(self, epoch: int, index: int) -> tuple[ArrayLike, ...]:
        if self._shuffle:
            index = int(np.random.default_rng([self._seed, epoch]).permutation(len(self))[index])
        batch = self._sequence[index]
        parts = tuple(batch) if isinstance(batch, tuple | list) else (batch,)
        present = [part for part in parts if part is not None]
        return tuple(tf.nest.map_structure(_array, _tuples(part)) for part in present)

    def begin_epoch(self, epoch: int) -> None:
        self._call("on_epoch_begin", epoch)  # of Keras 3 alone

    def end_epoch(self, epoch: int) -> None:
        self._call("on_epoch_end", epoch)

    def _call(self, hook: str, epoch: int) -> None:
        """A Sequence may shuffle itself now. What it draws depends on the epoch alone: after a pause, and on other
        ranks, it comes to the same order."""
        before = random.getstate(), np.random.get_state()
        random.seed(f"{self._seed} {hook} {epoch}")
        np.random.seed([self._seed % 2**32, epoch, len(hook)])
        try:
            getattr(self._sequence, hook, _nothing)()
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])


def is_dataset(data: InputData) -> bool:
    return isinstance(data, tf.data.Dataset)


def batch_source(data: InputData, batch_size: int, *, shuffle: bool, seed: int, call: str) -> BatchSource:
    """Arrays or a Sequence as batches.

    Raises:
        InvalidExperimentException: arrays of different lengths, or shorter than a batch; or something else altogether.
    """
    if isinstance(data, SequenceAdapter):
        data = data.sequence
    if isinstance(data, keras.utils.Sequence):
        return SequenceBatches(data, shuffle=shuffle, seed=seed)
    if isinstance(data, tuple | list) and len(data) in (2, 3):
        parts = [part for part in data if part is not None]
        return ArrayBatches(parts, batch_size, shuffle=shuffle, seed=seed, call=call)
    raise InvalidExperimentException(f"{call} returned a {type(data).__name__}; {_ACCEPTED}")


def _nothing() -> None:
    return


def _batches_of(sequence: "PyDataset") -> int:
    """Count batches. Raises InvalidExperimentException where there are none, or no end of them."""
    count = sequence.num_batches if KERAS_3 else len(sequence)
    if count is None or count < 1:
        raise InvalidExperimentException(
            f"{type(sequence).__name__} has no batches, or no end of them: its length is {count}; let __len__ return "
            "how many an epoch has"
        )
    return int(count)


def _tuples(part: ArrayLike) -> ArrayLike:
    """Lists as tuples: tf.data would take a list for one array."""
    if isinstance(part, list | tuple):
        return tuple(_tuples(each) for each in part)
    if isinstance(part, dict):
        return {name: _tuples(each) for name, each in part.items()}
    return part


def _array(values: ArrayLike) -> ArrayLike:
    """Convert to an array as Keras does: real numbers in Keras's own precision."""
    array = np.asarray(values)
    if np.issubdtype(array.dtype, np.floating) and array.dtype != keras.backend.floatx():
        return array.astype(keras.backend.floatx())
    return array


def _common_length(arrays: Sequence[ArrayLike], batch_size: int, call: str) -> int:
    lengths = {len(array) if array.ndim else 0 for array in arrays}
    if len(lengths) != 1:
        raise InvalidExperimentException(
            f"{call} returned arrays of {sorted(lengths)} records; x, y and sample weights need one length"
        )
    (length,) = lengths
    if length < batch_size:
        raise InvalidExperimentException(
            f"{call} returned {length} records, less than a batch of {batch_size}; lower global_batch_size"
        )
    return length
