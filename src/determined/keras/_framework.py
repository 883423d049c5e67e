"""Which Keras this process trains with: 2 or 3, and on which backend."""

import importlib.metadata
import sys
from typing import Any

from determined._imports import load_optional


def load_keras() -> Any:
    """The `keras` of a script: TensorFlow's own where a script has TensorFlow, which may be told to use Keras 2.

    Raises:
        ImportError: there is none; says which extra to install.
    """
    tensorflow: Any = sys.modules.get("tensorflow")
    found = getattr(tensorflow, "keras", None)
    return found if found is not None else load_optional("keras", extra="keras")


def version(keras: Any) -> str:
    """`tf.keras` of TensorFlow 2.15 does not say it."""
    return str(getattr(keras, "__version__", None) or importlib.metadata.version("keras"))


def is_keras_3(keras: Any) -> bool:
    return int(version(keras).split(".")[0]) >= 3


def backend(keras: Any) -> str:
    """`tensorflow`, `torch`, `jax` or `numpy`."""
    return str(keras.backend.backend()) if is_keras_3(keras) else "tensorflow"
