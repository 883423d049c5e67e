"""First epoch of `model.fit`, set from inside of it: both Keras have a place for their own BackupAndRestore."""

from types import ModuleType
from typing import TYPE_CHECKING

from determined.keras import _framework

if TYPE_CHECKING:
    from keras import Model


def begin_at(keras: ModuleType, model: "Model", epoch: int) -> None:
    """Make `epoch`, counted from 0, the first of this `fit`, from `on_train_begin`; none at all past its end."""
    if _framework.is_keras_3(keras):
        model._initial_epoch = epoch
    else:
        model._training_state = _InitialEpoch(epoch)


def forget(keras: ModuleType, model: "Model") -> None:
    """The next `fit` of this model begins where it is told to."""
    if _framework.is_keras_3(keras):
        model._initial_epoch = None
    elif isinstance(getattr(model, "_training_state", None), _InitialEpoch):
        model._training_state = None


class _InitialEpoch:
    """Object that Keras 2 asks after `on_train_begin`."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch

    def maybe_load_initial_counters_from_ckpt(
        self, steps_per_epoch: int | None, initial_epoch: int, mode: object = None
    ) -> tuple[int, int]:
        return self._epoch, 0
