"""TensorFlow Estimators: `EstimatorTrial` by entrypoint. TensorFlow 2.15 is the last release that has them."""

import importlib
from typing import Any

from determined.estimator import _tensorflow

_tensorflow.load()  # before our own modules, which import it plainly

from determined.estimator._context import EstimatorExperimentalContext, EstimatorTrialContext  # noqa: E402
from determined.estimator._controller import EstimatorTrialController  # noqa: E402
from determined.estimator._hooks import RunHook  # noqa: E402
from determined.estimator._load import load_estimator_from_checkpoint_path  # noqa: E402
from determined.estimator._native import EstimatorNativeContext  # noqa: E402
from determined.estimator._reducer import MetricReducer  # noqa: E402
from determined.estimator._trial import EstimatorTrial, ServingInputReceiverFn  # noqa: E402

__all__ = [
    "EstimatorExperimentalContext",
    "EstimatorNativeContext",
    "EstimatorTrial",
    "EstimatorTrialContext",
    "EstimatorTrialController",
    "MetricReducer",
    "RunHook",
    "ServingInputReceiverFn",
    "init",
    "load_estimator_from_checkpoint_path",
]


def __getattr__(name: str) -> Any:
    if name == "init":  # of 0.12.0; by name, as it lies above this package
        return importlib.import_module("determined.experimental.estimator").init
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
