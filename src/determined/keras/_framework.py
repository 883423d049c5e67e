"""Version of Keras that this process trains with, 2 or 3, and its backend."""

import importlib.metadata
import sys
from types import ModuleType
from typing import Any

from determined._imports import load_optional

_INSTALL = {
    "tensorflow": "pip install 'redetermined[tensorflow]'",
    "torch": "pip install 'redetermined[torch]'",
    "jax": "pip install jax",
}


def load_keras() -> Any:
    """The `keras` of a script: TensorFlow's own where a script has TensorFlow, which may be told to use Keras 2.

    Raises:
        ImportError: there is none, or what it computes by is missing; says what to install.
    """
    tensorflow = sys.modules.get("tensorflow")
    keras = getattr(tensorflow, "keras", None)
    if keras is not None:
        return keras
    try:
        return load_optional("keras", extra="keras")
    except ModuleNotFoundError as err:
        if err.name not in _INSTALL:
            raise
        raise ImportError(
            f"Keras is to compute by {err.name}, which is not installed; run: {_INSTALL[err.name]}, or set "
            f"KERAS_BACKEND to one that is: {', '.join(_INSTALL)}",
            name=err.name,
        ) from err


def version(keras: ModuleType) -> str:
    """`tf.keras` of TensorFlow 2.15 does not say it."""
    return str(getattr(keras, "__version__", None) or importlib.metadata.version("keras"))


def is_keras_3(keras: ModuleType) -> bool:
    return int(version(keras).split(".")[0]) >= 3


def backend(keras: ModuleType) -> str:
    """`tensorflow`, `torch`, `jax` or `numpy`."""
    return str(keras.backend.backend()) if is_keras_3(keras) else "tensorflow"
