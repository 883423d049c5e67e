"""TFKerasTrial: the class a Keras user derives from to train by `entrypoint: model_def:MyTrial`."""

import abc
from typing import TYPE_CHECKING, Any

from determined.keras._context import TFKerasTrialContext
from determined.keras._inputs import InputData
from determined.trial import Trial

if TYPE_CHECKING:
    from keras import Model
    from keras.callbacks import Callback


class TFKerasTrial(Trial):
    """A model, its data and its callbacks; how long and in which order it is trained is the platform's affair.

    Example:
        >>> class MyTrial(TFKerasTrial):
        ...     def __init__(self, context):
        ...         self.context = context
        ...
        ...     def build_model(self):
        ...         model = self.context.wrap_model(tf.keras.Sequential([tf.keras.layers.Dense(1)]))
        ...         optimizer = self.context.wrap_optimizer(tf.keras.optimizers.Adam())
        ...         model.compile(optimizer, "mse")
        ...         return model
        ...
        ...     def build_training_data_loader(self):
        ...         return x_train, y_train
        ...
        ...     def build_validation_data_loader(self):
        ...         return x_val, y_val
    """

    trial_context_class = TFKerasTrialContext

    def __init__(self, context: TFKerasTrialContext) -> None:
        self.context = context

    @abc.abstractmethod
    def build_model(self) -> "Model":
        """The model: passed through `context.wrap_model`, then compiled."""

    @abc.abstractmethod
    def build_training_data_loader(self) -> InputData:
        """Arrays `(x, y)` or `(x, y, sample_weights)`, a `tf.data.Dataset` that went through `context.wrap_dataset`, a
        `keras.utils.Sequence`, or a `SequenceAdapter` around one."""

    @abc.abstractmethod
    def build_validation_data_loader(self) -> InputData:
        """Return what to validate on, in any of the same forms."""

    def session_config(self) -> Any:
        """Return what TensorFlow 1 sessions were configured by. TensorFlow 2 has none, so it is ignored."""
        return None

    def keras_callbacks(self) -> list["Callback"]:
        """Callbacks, Keras's own or those of `determined.keras.callbacks`."""
        return []
