"""A Keras model's weights and its optimizer's state in a directory, in the format of the Keras at hand."""

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from determined.errors import CheckpointStateException
from determined.keras import _framework

if TYPE_CHECKING:
    from keras import Model, Variable

_NAME = "model_checkpoint"
_H5 = f"{_NAME}.weights.h5"


def save_weights(keras: ModuleType, model: "Model", directory: Path) -> None:
    """Weights and optimizer, as `model_checkpoint.weights.h5` (Keras 3) or a TensorFlow checkpoint (Keras 2)."""
    model.save_weights(str(directory / (_H5 if _framework.is_keras_3(keras) else _NAME)))


def load_weights(keras: ModuleType, model: "Model", directory: Path) -> None:
    """Load what `save_weights` saved, or an earlier release.

    Raises:
        CheckpointStateException: there are no weights, or of a format that this Keras cannot read.
    """
    _build_optimizer(model)
    if (directory / _H5).is_file():
        model.load_weights(str(directory / _H5))
        return
    if not (directory / f"{_NAME}.index").is_file():
        raise CheckpointStateException(
            f"{directory} holds no {_H5} and no {_NAME}.index; it was not saved by keras.DeterminedCallback"
        )
    if _framework.is_keras_3(keras):
        raise CheckpointStateException(
            f"{directory / _NAME} was saved with Keras 2, and Keras {_framework.version(keras)} cannot read it; "
            "train with TensorFlow 2.15"
        )
    # Variables that the model makes later, at its first batch, get their values then.
    model.load_weights(str(directory / _NAME)).expect_partial()


@contextlib.contextmanager
def keeping_optimizer(model: "Model") -> Iterator[None]:
    """Keep the optimizer as it is while something is loaded: its moments are of another training, and its learning
    rate is not the one this training asked for."""
    _build_optimizer(model)
    before = [(variable, variable.numpy()) for variable in _optimizer_variables(model)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Skipping variable loading for optimizer")
        yield
    for variable, value in before:
        variable.assign(value)


def _build_optimizer(model: "Model") -> None:
    """Values are loaded only into variables that exist."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None or not model.built or getattr(optimizer, "built", False) or not hasattr(optimizer, "build"):
        return
    optimizer.build(model.trainable_variables)


def _optimizer_variables(model: "Model") -> list["Variable"]:
    optimizer = getattr(model, "optimizer", None)
    attribute = getattr(optimizer, "variables", None) or []
    variables = list(attribute()) if callable(attribute) else list(attribute)
    rate = getattr(optimizer, "learning_rate", None)
    is_known = any(variable is rate for variable in variables)
    return variables if is_known or not hasattr(rate, "assign") else [*variables, rate]
