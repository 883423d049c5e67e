"""Optimizers that step by the mean of all ranks' gradients, which travel over core's links between the ranks."""

from collections.abc import Iterable

import tensorflow as tf

from determined import core
from determined.errors import InvalidExperimentException
from determined.trial import mean_over_ranks

Pairs = list[tuple["tf.Tensor | None", "tf.Variable"]]  # of a gradient, which may be None, and its variable


def averaging(
    optimizer: "tf.compat.v1.train.Optimizer", dist: core.DistributedContext, *, compress: bool
) -> "tf.compat.v1.train.Optimizer":
    """Return the optimizer, wrapped so that all ranks apply averaged gradients; on one rank it is not changed.

    Args:
        optimizer: of TensorFlow 1, or of Keras 2's older kind.
        dist: the ranks.
        compress: whether gradients travel in half precision.

    Raises:
        InvalidExperimentException: an optimizer of another kind.
    """
    kind = type(optimizer)
    if issubclass(kind, tf.compat.v1.train.Optimizer):
        behaviour: type = _AveragingOptimizer
    elif issubclass(kind, tf.keras.optimizers.legacy.Optimizer):
        behaviour = _AveragingKerasOptimizer
    else:
        raise InvalidExperimentException(
            f"wrap_optimizer got a {kind.__module__}.{kind.__name__}; estimators train with "
            "tf.compat.v1.train.AdamOptimizer and its siblings, or with those of tf.keras.optimizers.legacy"
        )
    if dist.size > 1 and not issubclass(kind, behaviour):
        # Its class, so that a copy made from its configuration, as model_to_estimator does, averages too.
        optimizer.__class__ = type(kind.__name__, (behaviour, kind), {"_exchange": _Exchange(dist, compress)})
    return optimizer


class _Exchange:
    """Exchange of all gradients of an optimizer in one message, and one optimizer after the other: exchanges at the
    same time could come in another order on another rank, and gradients of different models would be averaged.
    """

    def __init__(self, dist: core.DistributedContext, compress: bool) -> None:
        self._dist = dist
        self._compress = compress

    def __call__(self, pairs: Iterable[tuple[object, object]]) -> Pairs:
        """Return the pairs with averaged gradients, in the graph."""
        listed = list(pairs)
        dense = [tf.convert_to_tensor(gradient) for gradient, _ in listed if gradient is not None]
        if not dense:
            return listed
        earlier = tf.compat.v1.get_collection_ref(_exchanges_here())
        with tf.control_dependencies(earlier[-1:]):
            means = tf.numpy_function(self._mean, dense, [tensor.dtype for tensor in dense])
        earlier.append(means[0])
        mean = iter(means)
        return [
            (None if gradient is None else _shaped(next(mean), gradient), variable) for gradient, variable in listed
        ]

    def _mean(self, *gradients: object) -> list[object]:
        """Average in a step, on every rank."""
        return mean_over_ranks(self._dist, gradients, compress=self._compress)


class _AveragingOptimizer:
    """Optimizer over a class of `tf.compat.v1.train`.

    Gradients are averaged when they are computed, so that clipping sees the averages. Gradients that were computed by
    other means are averaged when they are applied.
    """

    _exchange: _Exchange

    def compute_gradients(self, *args: object, **kwargs: object) -> Pairs:
        pairs = self._exchange(super().compute_gradients(*args, **kwargs))  # type: ignore[misc]
        tf.compat.v1.add_to_collection(_AVERAGED, id(self))
        return pairs

    def apply_gradients(self, grads_and_vars: Pairs, *args: object, **kwargs: object) -> "tf.Operation":
        is_done = id(self) in tf.compat.v1.get_collection(_AVERAGED)
        pairs = list(grads_and_vars) if is_done else self._exchange(grads_and_vars)
        return super().apply_gradients(pairs, *args, **kwargs)  # type: ignore[misc]


class _AveragingKerasOptimizer:
    """Optimizer over a class of `tf.keras.optimizers.legacy`, which clips after this."""

    _exchange: _Exchange

    def _aggregate_gradients(self, grads_and_vars: Pairs) -> Pairs:
        return self._exchange(grads_and_vars)


_AVERAGED = "determined_averaged"  # of a graph: the optimizers whose gradients are averaged already


def _exchanges_here() -> str:
    """Return the collection of a graph with all exchanges so far in the same branch. One in a branch of a `tf.cond`
    that is not taken would never happen for those that wait for it."""
    branch = tf.compat.v1.get_default_graph()._get_control_flow_context()
    return "determined_exchanges" if branch is None else f"determined_exchanges of {branch.name}"


def _shaped(mean: "tf.Tensor", gradient: "tf.Tensor") -> object:
    mean.set_shape(gradient.shape)
    return mean
