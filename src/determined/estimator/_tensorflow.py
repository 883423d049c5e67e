"""Version of TensorFlow, and its behaviour of version 1, which estimators are made for."""

import random
from types import ModuleType

from determined._imports import load_optional

_LAST = "2.15.1"
_INSTALL = f"pip install 'redetermined[tensorflow]' 'tensorflow=={_LAST}'"


def load() -> ModuleType:
    """TensorFlow.

    Raises:
        ImportError: there is none, or one without estimators.
    """
    try:
        tf: ModuleType = load_optional("tensorflow", extra="tensorflow")
    except ModuleNotFoundError:
        raise  # something that TensorFlow itself needs
    except ImportError as err:
        raise ImportError(f"tensorflow is not installed; for estimators run: {_INSTALL}", name=err.name) from err
    if not hasattr(tf, "estimator"):
        raise ImportError(
            f"TensorFlow {tf.__version__} has no estimators, and determined.estimator needs them; {_LAST} is the last "
            f"release that has: {_INSTALL}, or port the model to determined.keras",
            name="tensorflow.estimator",
        )
    return tf


def behave_as_version_1(seed: int) -> None:
    """Graphs and sessions from here on, for the whole process; every source of random numbers begins with `seed`."""
    tf = load()
    tf.compat.v1.disable_v2_behavior()
    # Reading one of the older variables, as metrics do, races with its update by the same step.
    tf.compat.v1.enable_resource_variables()
    random.seed(seed)
    load_optional("numpy", extra="tensorflow").random.seed(seed % 2**32)  # it comes with TensorFlow
    tf.compat.v1.set_random_seed(seed)
