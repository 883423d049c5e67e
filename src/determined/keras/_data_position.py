"""Position in shuffled data: TensorFlow shuffles each epoch differently, by how many came before in this process.

A training that is resumed begins a new process, so the epochs it has behind it are passed over in its data: skipped
where Keras reads all epochs from one iterator, begun and dropped where it makes one for each. Keras hands its callbacks
no data; they lie in the frame of `fit`.
"""

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from determined.keras._fit_frame import fit_frame

if TYPE_CHECKING:
    from tensorflow.data import Dataset

logger = logging.getLogger("determined.keras")


def pass_over(epochs: int, batches: int) -> None:
    """Go on in the data, from `on_train_begin`, as after `epochs`, which had `batches` together."""
    frame = fit_frame()
    if frame is None:
        logger.debug("no data of Keras in sight; they begin as in the first epoch")
        return
    if (handler := frame.f_locals.get("data_handler")) is not None:
        _pass_keras_2(handler, epochs, batches)
    elif (iterator := frame.f_locals.get("epoch_iterator")) is not None:
        _pass_keras_3(iterator, epochs, batches)


def data_spec() -> Any:
    """Return the shapes of a batch, in `on_train_begin`, as tf.data has them; None where Keras hands out something
    else."""
    frame = fit_frame()
    iterator = None if frame is None else frame.f_locals.get("epoch_iterator")
    return getattr(getattr(iterator, "_distributed_dataset", None), "element_spec", None)


def _pass_keras_2(handler: Any, epochs: int, batches: int) -> None:
    dataset, adapter = handler._dataset, handler._adapter
    if not adapter.should_recreate_iterator():
        handler._dataset = _without_first(dataset, batches)
    elif type(adapter).__name__ == "DatasetAdapter":
        for _ in range(epochs):
            next(iter(dataset), None)


def _pass_keras_3(iterator: Any, epochs: int, batches: int) -> None:
    dataset: Any = getattr(iterator, "_distributed_dataset", None)
    if dataset is None or type(iterator.data_adapter).__name__ != "TFDatasetAdapter":
        return
    if iterator.steps_per_epoch and iterator._num_batches is None:
        iterator._distributed_dataset = _without_first(dataset, batches)
        return
    for _ in range(epochs):
        next(iter(dataset), None)
        if iterator._num_batches:
            iter(dataset)  # Keras makes another one at the end of an epoch, too


def _without_first(dataset: "Dataset", batches: int) -> "Dataset":
    return dataset.skip(batches) if hasattr(dataset, "skip") else _Advanced(dataset, batches)


class _Advanced:
    """A dataset that a strategy spreads over devices: it cannot skip, and Keras only iterates over it."""

    def __init__(self, dataset: "Dataset", batches: int) -> None:
        self._dataset = dataset
        self._batches = batches

    def __iter__(self) -> Iterator[Any]:
        iterator: Iterator[object] = iter(self._dataset)
        for _ in range(self._batches):
            next(iterator)
        return iterator
