"""Gradients of several ranks, averaged before an optimizer applies them: by Horovod where it was launched, else over
core's own connection between the ranks, which needs nothing beside TensorFlow."""

from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from determined import core
from determined._json import JsonObject
from determined.keras._tensorflow import KERAS_3, tf
from determined.trial import mean_over_ranks

if TYPE_CHECKING:
    from keras import Variable
    from keras.optimizers import Optimizer

Gradient = Any  # a tensor, or None for a variable that the loss does not depend on
# Gradients in, their averages over all ranks out; in the graph of a training step.
Averaging = Callable[[Sequence[Gradient]], list[Gradient]]


def averaging(optimizer: "Optimizer", average: Averaging) -> "Optimizer":
    """Return the optimizer, changed to average gradients over all ranks before it applies them."""
    base = type(optimizer)
    method = _apply_of_keras_3(base, average) if KERAS_3 else _apply_of_keras_2(base, average)
    # Its class changes and it stays: what Keras and the user hold of it, and its state, remain as they are.
    optimizer.__class__ = type(base.__name__, (base,), {**method, "__module__": base.__module__})
    return optimizer


def over_core(distributed: core.DistributedContext, *, compress: bool = False) -> Averaging:
    """The chief adds up what all ranks send it, in the order of ranks, so that a run can be repeated exactly.

    Args:
        distributed: the ranks.
        compress: whether gradients travel to the chief in half precision.
    """

    def exchange(*gradients: object) -> list[Gradient]:
        return mean_over_ranks(distributed, gradients, compress=compress)

    def average(gradients: Sequence[Gradient]) -> list[Gradient]:
        present = [tf.convert_to_tensor(gradient) for gradient in gradients if gradient is not None]
        means = tf.numpy_function(exchange, present, [gradient.dtype for gradient in present])
        means = means if isinstance(means, list) else [means]  # the only one, outside of a graph
        for gradient, mean in zip(present, means, strict=True):
            mean.set_shape(gradient.shape)
        return _put_back(gradients, means)

    return average


def over_horovod(hvd: ModuleType, *, compress: bool = False) -> Averaging:
    """Average by an initialised `horovod.tensorflow`."""
    compression = hvd.Compression.fp16 if compress else hvd.Compression.none

    def average(gradients: Sequence[Gradient]) -> list[Gradient]:
        present = [tf.convert_to_tensor(gradient) for gradient in gradients if gradient is not None]
        return _put_back(gradients, hvd.grouped_allreduce(present, op=hvd.Average, compression=compression))

    return average


def _put_back(gradients: Sequence[object], means: Sequence[object]) -> list[object]:
    """Put means in place of gradients; None stays where a variable has no gradient."""
    left = iter(means)
    return [None if gradient is None else next(left) for gradient in gradients]


def _apply_of_keras_3(base: "type[Optimizer]", average: Averaging) -> JsonObject:
    def apply(self: "Optimizer", grads: Sequence[Gradient], trainable_variables: object = None) -> object:
        return base.apply(self, average(list(grads)), trainable_variables)

    return {"apply": apply}


def _apply_of_keras_2(base: "type[Optimizer]", average: Averaging) -> JsonObject:
    def apply_gradients(
        self: "Optimizer", grads_and_vars: Iterable[tuple[Gradient, "Variable"]], *args: object, **kwargs: object
    ) -> object:
        pairs = list(grads_and_vars)
        means = average([gradient for gradient, _ in pairs])
        variables = [variable for _, variable in pairs]
        return base.apply_gradients(self, list(zip(means, variables, strict=True)), *args, **kwargs)

    return {"apply_gradients": apply_gradients}
