"""TensorFlow Estimators: `EstimatorTrial` by entrypoint. TensorFlow 2.15 is the last release that has them."""

from determined.estimator import _tensorflow

_tensorflow.load()  # before our own modules, which import it plainly

from determined.estimator._context import EstimatorExperimentalContext, EstimatorTrialContext  # noqa: E402
from determined.estimator._controller import EstimatorTrialController  # noqa: E402
from determined.estimator._hooks import RunHook  # noqa: E402
from determined.estimator._load import load_estimator_from_checkpoint_path  # noqa: E402
from determined.estimator._reducer import MetricReducer  # noqa: E402
from determined.estimator._trial import EstimatorTrial, ServingInputReceiverFn  # noqa: E402

__all__ = [
    "EstimatorExperimentalContext",
    "EstimatorTrial",
    "EstimatorTrialContext",
    "EstimatorTrialController",
    "MetricReducer",
    "RunHook",
    "ServingInputReceiverFn",
    "load_estimator_from_checkpoint_path",
]
