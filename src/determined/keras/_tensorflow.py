"""TensorFlow and the Keras it comes with, 2 or 3, for everything around TFKerasTrial. Both are imported here alone."""

from types import ModuleType
from typing import Any

from determined._imports import load_optional
from determined.errors import InvalidExperimentException
from determined.keras import _framework

tf: ModuleType = load_optional("tensorflow", extra="tensorflow")
keras: Any = tf.keras
KERAS_3 = _framework.is_keras_3(keras)


def check_backend() -> None:
    """Raise InvalidExperimentException where Keras 3 was told to compute by something else than TensorFlow."""
    backend = _framework.backend(keras)
    if backend != "tensorflow":
        raise InvalidExperimentException(
            f"TFKerasTrial trains by TensorFlow, and KERAS_BACKEND is {backend}; set KERAS_BACKEND=tensorflow, or "
            "train by a script with keras.DeterminedCallback"
        )
