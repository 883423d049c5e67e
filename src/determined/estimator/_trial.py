"""EstimatorTrial: the class that users derive from to train a TensorFlow Estimator."""

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from determined.estimator._context import EstimatorTrialContext
from determined.trial import Trial

if TYPE_CHECKING:
    import tensorflow as tf

# What tf.estimator.export.build_parsing_serving_input_receiver_fn and its siblings return.
ServingInputReceiverFn = Callable[[], Any]


class EstimatorTrial(Trial):
    """An estimator, its data, and how it is served.

    Example:
        >>> class MyTrial(EstimatorTrial):
        ...     def __init__(self, context):
        ...         self.context = context
        ...     def build_estimator(self):
        ...         optimizer = self.context.wrap_optimizer(tf.keras.optimizers.legacy.Adam(0.01))
        ...         return tf.estimator.DNNClassifier([32], COLUMNS, n_classes=3, optimizer=optimizer)
        ...     def build_train_spec(self):
        ...         return tf.estimator.TrainSpec(lambda: self.dataset("train"))
        ...     def build_validation_spec(self):
        ...         return tf.estimator.EvalSpec(lambda: self.dataset("validation"), steps=None)
    """

    trial_context_class = EstimatorTrialContext

    @abc.abstractmethod
    def __init__(self, context: EstimatorTrialContext) -> None:
        """Keep the context; estimator and data are asked for by the methods below."""

    @abc.abstractmethod
    def build_estimator(self) -> "tf.estimator.Estimator":
        """The `tf.estimator.Estimator`, premade or with a model_fn of its own.

        Its optimizer must go through `context.wrap_optimizer`. Of its RunConfig the directory, the seed and what saves
        checkpoints are replaced; `train_distribute` and `eval_distribute` must not be set.
        """

    @abc.abstractmethod
    def build_train_spec(self) -> "tf.estimator.TrainSpec":
        """A `tf.estimator.TrainSpec`. Its `input_fn` returns a `tf.data.Dataset` of batches that went through
        `context.wrap_dataset`; it is repeated without end, and `max_steps` is ignored."""

    @abc.abstractmethod
    def build_validation_spec(self) -> "tf.estimator.EvalSpec":
        """A `tf.estimator.EvalSpec`; `context.wrap_dataset` is for its dataset too. `steps=None` is to its end."""

    def build_serving_input_receiver_fns(self) -> dict[str, ServingInputReceiverFn]:
        """Return what each checkpoint is exported for: name of its SavedModel -> receiver function. None by default."""
        return {}
