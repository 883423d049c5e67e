"""Training and validation data as TensorFlow's datasets: each rank gets its share, and training may begin anywhere."""

import collections
import itertools
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from determined.errors import InvalidExperimentException
from determined.keras._context import FitOptions
from determined.keras._inputs import ArrayLike, BatchSource, InputData, SequenceAdapter, batch_source, is_dataset
from determined.keras._tensorflow import tf

if TYPE_CHECKING:
    from tensorflow.data import Dataset

logger = logging.getLogger("determined.keras")

_PEEKED = 3  # batches, by which the shape of all is told


class Share:
    """Share of this rank: of the endless row of batches of all epochs, every `size`-th.

    So no batch is left out where their number cannot be divided by that of the ranks, and a rank that goes on after n
    batches knows at once where.
    """

    def __init__(self, source: BatchSource, rank: int, size: int) -> None:
        self.source = source
        self._rank = rank
        self._size = size

    def place(self, step: int) -> tuple[int, int]:
        """(epoch, index) of this rank's batch number `step`."""
        return divmod(step * self._size + self._rank, len(self.source))

    def once(self) -> Iterator[tuple[ArrayLike, ...]]:
        """Yield this rank's batches of one epoch, for validation."""
        for index in range(self._rank, len(self.source), self._size):
            yield self.source.batch(0, index)

    @property
    def batches_of_once(self) -> int:
        return len(range(self._rank, len(self.source), self._size))


class EndlessBatches:
    """Batches of this rank from batch number `step` on, for training."""

    def __init__(self, share: Share, step: int, options: FitOptions) -> None:
        self._share = share
        self._step = step
        self._ahead = max(options.max_queue_size, 1) if options.workers > 1 else 0
        self._workers = options.workers
        # A Sequence may shuffle itself between epochs: it is brought to where it was.
        self._epoch = 0
        share.source.begin_epoch(0)
        self._enter(share.place(step - 1)[0] if step > 0 else 0)

    def __call__(self) -> Iterator[tuple[ArrayLike, ...]]:
        if not self._ahead:
            yield from (self._read(step) for step in itertools.count(self._step))
            return
        with ThreadPoolExecutor(self._workers, thread_name_prefix="determined-keras-data") as pool:
            yield from self._read_ahead(pool)

    def _read(self, step: int) -> tuple[object, ...]:
        epoch, index = self._share.place(step)
        self._enter(epoch)
        return self._share.source.batch(epoch, index)

    def _read_ahead(self, pool: ThreadPoolExecutor) -> Iterator[tuple[object, ...]]:
        waiting: collections.deque[Future[tuple[object, ...]]] = collections.deque()
        step = self._step
        while True:
            epoch, index = self._share.place(step)
            # Nothing of an epoch is read before the one before is through.
            if len(waiting) < self._ahead and (not waiting or epoch == self._epoch):
                self._enter(epoch)
                waiting.append(pool.submit(self._share.source.batch, epoch, index))
                step += 1
                continue
            yield waiting.popleft().result()

    def _enter(self, epoch: int) -> None:
        while self._epoch < epoch:
            self._share.source.end_epoch(self._epoch)
            self._epoch += 1
            self._share.source.begin_epoch(self._epoch)


def training_dataset(
    data: InputData, *, step: int, batch_size: int, seed: int, rank: int, size: int, options: FitOptions
) -> "Dataset":
    """The training data from batch number `step` on, without end."""
    call = "build_training_data_loader"
    if is_dataset(data):
        dataset = data.repeat()
        if step:
            logger.info("the training dataset is read up to batch %s, where training goes on", step)
            dataset = dataset.skip(step)
        return _with_class_weight(dataset, options.class_weight)
    if isinstance(data, SequenceAdapter):
        options = _options_of(data, options)
    source = batch_source(data, batch_size, shuffle=options.shuffle, seed=seed, call=call)
    share = Share(source, rank, size)
    dataset = _from_generator(EndlessBatches(share, step, options), source)
    return _with_class_weight(dataset, options.class_weight)


def validation_dataset(data: InputData, *, batch_size: int, rank: int, size: int) -> tuple["Dataset", int | None]:
    """Return this rank's validation data, and how many batches that is; None where a dataset does not say."""
    if is_dataset(data):
        return data, 0 if size > 1 and _is_empty(data) else None
    source = batch_source(data, batch_size, shuffle=False, seed=0, call="build_validation_data_loader")
    share = Share(source, rank, size)
    cardinality = tf.data.experimental.assert_cardinality(share.batches_of_once)
    return _from_generator(share.once, source).apply(cardinality), share.batches_of_once


def check_end(dataset: "Dataset") -> None:
    """Raise InvalidExperimentException where a validation would never be over."""
    if int(dataset.cardinality()) == tf.data.INFINITE_CARDINALITY:
        raise InvalidExperimentException(
            "build_validation_data_loader returned a dataset without an end; leave out .repeat(), or say how many "
            "batches to use by context.configure_fit(validation_steps=n)"
        )


def _is_empty(dataset: "Dataset") -> bool:
    """Return where records are fewer than ranks, some of these have none; Keras refuses to validate nothing."""
    return not any(True for _ in dataset.take(1))


def _options_of(adapter: SequenceAdapter, options: FitOptions) -> FitOptions:
    return FitOptions(
        verbose=options.verbose,
        class_weight=options.class_weight,
        workers=adapter.workers,
        use_multiprocessing=adapter.use_multiprocessing,
        max_queue_size=adapter.max_queue_size,
        shuffle=options.shuffle,
        validation_steps=options.validation_steps,
    )


def _from_generator(batches: Callable[[], Iterator[tuple[object, ...]]], source: BatchSource) -> "Dataset":
    options = tf.data.Options()
    # TensorFlow would read ahead by itself, and random numbers be drawn for batches that are not trained yet.
    options.autotune.enabled = False
    options.experimental_optimization.inject_prefetch = False
    dataset = tf.data.Dataset.from_generator(batches, output_signature=_signature(source))
    return dataset.with_options(options)


def _signature(source: BatchSource) -> object:
    """The shape of batches: sizes that differ between some of them are left open, as is the number of records."""
    indices = sorted({0, len(source) // 2, len(source) - 1})[:_PEEKED]
    peeked = [source.batch(0, index) for index in indices]
    return tf.nest.map_structure(lambda *arrays: _spec(arrays), *peeked)


def _spec(arrays: tuple[ArrayLike, ...]) -> object:
    shapes = [np.shape(array)[1:] for array in arrays]
    alike = [sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True)]
    return tf.TensorSpec([None, *alike], arrays[0].dtype)


def _with_class_weight(dataset: "Dataset", factors: dict[int, float] | None) -> "Dataset":
    if not factors:
        return dataset
    table = [float(factors.get(label, 1.0)) for label in range(max(factors) + 2)]  # the last is for all beyond

    def weighted(x: object, y: Any, weight: object = None) -> Any:
        is_one_hot = y.shape.rank is not None and y.shape.rank > 1 and y.shape[-1] != 1
        labels = tf.argmax(y, axis=-1) if is_one_hot else tf.reshape(y, [-1])
        factor = tf.gather(tf.constant(table), tf.minimum(tf.cast(labels, tf.int64), len(table) - 1))
        return x, y, factor if weight is None else tf.cast(weight, factor.dtype) * factor

    return dataset.map(weighted)
