"""Callbacks for a TFKerasTrial: Keras's hooks and ours, and a state that outlives a pause."""

from pathlib import Path
from typing import Any

from determined._json import JsonObject
from determined.keras import _event_writers
from determined.keras._tensorflow import keras

__all__ = ["Callback", "EarlyStopping", "ReduceLROnPlateau", "TFKerasTensorBoard", "TensorBoard"]


class Callback(keras.callbacks.Callback):  # type: ignore[misc]
    """A Keras callback that also hears of workloads and checkpoints, and is saved in these.

    `on_epoch_end` needs `records_per_epoch` in the experiment config.

    Example:
        >>> class Count(Callback):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.batches = 0
        ...
        ...     def on_train_batch_end(self, batch, logs=None):
        ...         self.batches += 1
        ...
        ...     def get_state(self):
        ...         return {"batches": self.batches}
        ...
        ...     def load_state(self, state):
        ...         self.batches = state["batches"]
    """

    def on_train_workload_begin(
        self, total_batches_trained: int, batches_requested: int | None, logs: JsonObject
    ) -> None:
        """Run before some batches are trained.

        Args:
            total_batches_trained: by this trial before.
            batches_requested: to be trained now.
            logs: empty.
        """

    def on_train_workload_end(self, total_batches_trained: int, logs: JsonObject) -> None:
        """Run after some batches were trained; `logs` are their metrics."""

    def on_checkpoint_end(self, checkpoint_dir: str) -> None:
        """A checkpoint was written to this directory, and is about to be stored; on the chief. Files may be added."""

    def get_state(self) -> Any:
        """Return what `load_state` needs to go on after a pause: plain values and arrays. None for nothing."""
        return None

    def load_state(self, state: Any) -> None:
        """Called before `on_train_begin` when training goes on from a checkpoint."""


class _ActsOnValidation(Callback):
    """Keras's callback, acting at the end of each validation instead of each epoch, with a state that is kept."""

    _saved: tuple[str, ...] = ()

    def on_train_begin(self, logs: JsonObject | None = None) -> None:
        """Keras begins anew here, which a trial that goes on must not."""
        if not getattr(self, "_is_loaded", False):
            self._validations = 0
            super().on_train_begin(logs)

    def on_test_end(self, logs: JsonObject | None = None) -> None:
        super().on_epoch_end(self._validations, logs)
        self._validations += 1

    def on_epoch_end(self, epoch: int, logs: JsonObject | None = None) -> None:
        """Do nothing: an epoch need not have been validated."""

    def get_state(self) -> JsonObject:
        state = {name: getattr(self, name) for name in self._saved if hasattr(self, name)}
        return {"validations": self._validations, **{name: _plain(value) for name, value in state.items()}}

    def load_state(self, state: JsonObject) -> None:
        self._is_loaded = True
        self._validations = int(state.get("validations", 0))
        for name in self._saved:
            if name in state:
                setattr(self, name, state[name])


class EarlyStopping(_ActsOnValidation, keras.callbacks.EarlyStopping):  # type: ignore[misc]
    """Keras's EarlyStopping, looking at each validation: `patience` counts these.

    Example:
        >>> EarlyStopping(monitor="val_loss", patience=3)
    """

    _saved = ("wait", "stopped_epoch", "best", "best_epoch", "best_weights")

    def on_test_end(self, logs: JsonObject | None = None) -> None:
        super().on_test_end(logs)
        if self.model.stop_training and self.restore_best_weights and self.best_weights is not None:
            # Now, and not when training has ended, as Keras 3 does: the last checkpoint is saved between the two.
            self.model.set_weights(self.best_weights)


class ReduceLROnPlateau(_ActsOnValidation, keras.callbacks.ReduceLROnPlateau):  # type: ignore[misc]
    """Keras's ReduceLROnPlateau, looking at each validation: `patience` and `cooldown` count these.

    Example:
        >>> ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=2)
    """

    _saved = ("wait", "cooldown_counter", "best")


class TensorBoard(keras.callbacks.TensorBoard):  # type: ignore[misc]
    """Keras's TensorBoard callback, writing to where the platform keeps the trial's event files.

    Args:
        args, kwargs: of `keras.callbacks.TensorBoard`; a `log_dir` among them is ignored.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)

    def _write_to(self, directory: Path) -> None:
        """Called before training begins."""
        self.log_dir = str(directory)

    def on_train_workload_end(self, total_batches_trained: int, logs: JsonObject) -> None:
        """Write what is still in a writer's memory: it would be lost with the process, and is not there to be
        copied."""
        _event_writers.flush([self])


TFKerasTensorBoard = TensorBoard


def acts_on_validations(callback: Any) -> bool:
    """Return whether it does at the end of a validation what it seems to do at the end of an epoch."""
    return type(callback).on_epoch_end is _ActsOnValidation.on_epoch_end


def _plain(value: Any) -> Any:
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value
