"""CallbackSet: the callbacks of a trial, told of everything in the order they were given."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from determined._json import JsonObject
from determined.keras import _event_writers
from determined.keras._tensorflow import keras
from determined.keras.callbacks import Callback, TensorBoard, acts_on_validations

if TYPE_CHECKING:
    from keras import Model
    from keras.callbacks import Callback as KerasCallback

logger = logging.getLogger("determined.keras")

_BATCH_HOOKS = ("on_train_batch_begin", "on_train_batch_end", "on_batch_begin", "on_batch_end")
_OURS = "use that of determined.keras.callbacks, which looks at each validation and outlives a pause"
_INSTEAD = {
    "EarlyStopping": _OURS,
    "ReduceLROnPlateau": _OURS,
    "ModelCheckpoint": "leave it out: the trial is saved by itself, and its best checkpoint is kept (save_trial_best)",
}
_VALIDATION_HOOKS = ("on_test_begin", "on_test_batch_begin", "on_test_batch_end", "on_test_end")


class CallbackSet:
    """Callbacks of a trial.

    Args:
        callbacks: Keras's or ours.
        model: what they look at.
        batches_per_epoch: None where the config has no records_per_epoch.
        tensorboard: tells the directory for event files, which is made when somebody asks; None on ranks that write
            none, because the chief does.

    Raises:
        AssertionError: one of ours has `on_epoch_end`, and an epoch has no length.
    """

    def __init__(
        self,
        callbacks: list["KerasCallback"],
        model: "Model",
        batches_per_epoch: int | None,
        tensorboard: Callable[[], Path] | None,
    ) -> None:
        _warn_of_monitors(callbacks)
        if batches_per_epoch is None:
            _check_epochs(callbacks)
        self._all = callbacks
        self._active = [each for each in callbacks if tensorboard is not None or not _is_tensorboard(each)]
        for callback in callbacks:
            callback.set_params({"verbose": 0, "epochs": 1, "steps": batches_per_epoch})
            if tensorboard is not None and isinstance(callback, TensorBoard):
                callback._write_to(tensorboard())  # before it sees the model, which it may write about
        for callback in self._active:
            callback.set_model(model)
        self._hear_batches = [callback for callback in self._active if _overrides(callback, _BATCH_HOOKS)]
        self._hear_validations = [callback for callback in self._active if _overrides(callback, _VALIDATION_HOOKS)]

    @property
    def watch_validations(self) -> bool:
        """Return whether a validation may change anything."""
        return bool(self._hear_validations)

    def train_begin(self, trained: int) -> None:
        for callback in self._active:
            callback.on_train_begin({})
            if _is_tensorboard(callback):
                _count_on(callback, trained)

    def train_end(self) -> None:
        for callback in self._active:
            callback.on_train_end({})

    def epoch_begin(self, epoch: int) -> None:
        for callback in self._active:
            callback.on_epoch_begin(epoch, {})

    def epoch_end(self, epoch: int) -> None:
        for callback in self._active:
            callback.on_epoch_end(epoch, {})

    def batch_begin(self, batch: int) -> None:
        for callback in self._hear_batches:
            callback.on_train_batch_begin(batch, {})

    def batch_end(self, batch: int, logs: JsonObject | None) -> None:
        if not self._hear_batches:  # numbers stay on the device they were computed on
            return
        numbers = numbers_of(logs)
        for callback in self._hear_batches:
            callback.on_train_batch_end(batch, numbers)

    def workload_begin(self, trained: int, requested: int) -> None:
        for callback in self._ours("on_train_workload_begin"):
            callback.on_train_workload_begin(trained, requested, {})

    def workload_end(self, trained: int, logs: JsonObject) -> None:
        for callback in self._ours("on_train_workload_end"):
            callback.on_train_workload_end(trained, dict(logs))

    def checkpoint_end(self, directory: Path) -> None:
        for callback in self._ours("on_checkpoint_end"):
            callback.on_checkpoint_end(str(directory))
        _event_writers.flush(filter(_is_tensorboard, self._active))

    def test_end(self, metrics: JsonObject) -> None:
        """Metrics of the whole validation, named as validation metrics are reported."""
        for callback in self._hear_validations:
            callback.on_test_end(dict(metrics))

    def during_validation(self) -> "ValidationHooks":
        return ValidationHooks(self._hear_validations)

    def state(self) -> list[Any]:
        """Return the state of each callback, in their order."""
        return [callback.get_state() if isinstance(callback, Callback) else None for callback in self._all]

    def load_state(self, states: list[object]) -> None:
        if len(states) != len(self._all):
            logger.warning(
                "the checkpoint has the states of %s callbacks, and keras_callbacks() returns %s; those at the same "
                "places are loaded",
                len(states), len(self._all),
            )  # fmt: skip
        for callback, state in zip(self._all, states, strict=False):
            if state is not None and isinstance(callback, Callback):
                callback.load_state(state)

    def _ours(self, hook: str) -> list["KerasCallback"]:
        return [callback for callback in self._active if hasattr(callback, hook)]


class ValidationHooks(keras.callbacks.Callback):  # type: ignore[misc]
    """Passes on what happens during a validation, all but its end: the metrics are not yet those of all ranks."""

    def __init__(self, listeners: list["KerasCallback"]) -> None:
        super().__init__()
        self._listeners = listeners
        self.batches = 0

    def on_test_begin(self, logs: JsonObject | None = None) -> None:
        for listener in self._listeners:
            listener.on_test_begin(logs)

    def on_test_batch_begin(self, batch: int, logs: JsonObject | None = None) -> None:
        for listener in self._listeners:
            listener.on_test_batch_begin(batch, logs)

    def on_test_batch_end(self, batch: int, logs: JsonObject | None = None) -> None:
        self.batches += 1
        for listener in self._listeners:
            listener.on_test_batch_end(batch, logs)


def numbers_of(logs: JsonObject | None) -> JsonObject:
    """Tensors as plain numbers; metrics that are arrays as lists."""
    return {str(name): _number(value) for name, value in (logs or {}).items()}


def _number(value: object) -> object:
    if isinstance(value, dict):
        return numbers_of(value)
    array = np.asarray(value)
    return array.item() if array.ndim == 0 else array.tolist()


def _is_tensorboard(callback: "KerasCallback") -> bool:
    return isinstance(callback, keras.callbacks.TensorBoard)


def _count_on(tensorboard: "KerasCallback", trained: int) -> None:
    """Keras counts batches from the beginning of a process, and writes what it has of a batch at that number."""
    tensorboard._global_train_batch = trained
    counter: object = getattr(tensorboard, "_train_step", None)
    if hasattr(counter, "assign"):  # Keras 2 takes the model's own
        counter.assign(trained)


def _overrides(callback: "KerasCallback", hooks: tuple[str, ...]) -> bool:
    """A LambdaCallback has its hooks as attributes of its own."""
    base = keras.callbacks.Callback
    methods = {hook: getattr(callback, hook, None) for hook in hooks}
    return any(getattr(value, "__func__", value) is not getattr(base, hook, None) for hook, value in methods.items())


def _warn_of_monitors(callbacks: list["KerasCallback"]) -> None:
    for callback in filter(_is_in_vain, callbacks):
        name = type(callback).__name__
        kind = next(kind for kind in _INSTEAD if _is_kind(callback, kind))
        logger.warning(
            "%s looks at %s at the end of an epoch, where a trial has no metrics, so it does nothing; %s",
            name, callback.monitor, _INSTEAD[kind],
        )  # fmt: skip


def _is_in_vain(callback: "KerasCallback") -> bool:
    """Return whether a callback of Keras's does nothing, for want of metrics at the only moment it looks."""
    return any(_is_kind(callback, kind) for kind in _INSTEAD) and getattr(callback, "save_best_only", True)


def _is_kind(callback: "KerasCallback", kind: str) -> bool:
    """Keras's own, also by a class of the user's, as long as it does at that moment what Keras's does."""
    keras_own = getattr(keras.callbacks, kind)
    return isinstance(callback, keras_own) and type(callback).on_epoch_end is keras_own.on_epoch_end


def _check_epochs(callbacks: list["KerasCallback"]) -> None:
    for callback in callbacks:
        if not _overrides(callback, ("on_epoch_end",)) or acts_on_validations(callback) or _is_in_vain(callback):
            continue
        words = (
            f"{type(callback).__name__} has on_epoch_end, which is called only where the config has records_per_epoch"
        )
        if isinstance(callback, Callback):
            raise AssertionError(f"{words}; add it to the config")
        logger.warning("%s; add it, or use the callbacks of determined.keras.callbacks", words)
