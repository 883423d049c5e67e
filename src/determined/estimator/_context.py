"""EstimatorTrialContext: what an EstimatorTrial asks of the platform and hands over to it."""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy.typing as npt
import tensorflow as tf

from determined import core
from determined.errors import InvalidExperimentException
from determined.estimator import _parallel, _reducer
from determined.estimator._optimizer import averaging
from determined.estimator._reducer import MetricReducer
from determined.trial import BatchSizes, EnvContext, TrialContext


class EstimatorTrialContext(TrialContext):
    """The context of an EstimatorTrial.

    Attributes:
        distributed: this process among its peers.
        env: what the platform told this trial at its start.
        experimental: what older releases had under this name.
    """

    def __init__(self, core_context: core.Context, env: EnvContext) -> None:
        super().__init__(core_context, env)
        self.experimental = EstimatorExperimentalContext(self)
        self._wrapped_optimizers = 0
        self._wrapped_datasets = 0
        self._sizes: BatchSizes | None = None

    def get_global_batch_size(self) -> int:
        """Records that all slots together train on in one batch.

        Raises:
            InvalidExperimentException: the hyperparameter `global_batch_size` is missing, no int, or less than one
                record for each slot.
        """
        return self._batch_sizes().over_all_slots

    def get_per_slot_batch_size(self) -> int:
        """Records that one slot trains on in one batch: what `dataset.batch` takes. Raises as the global one."""
        return self._batch_sizes().per_slot

    def wrap_optimizer(self, optimizer: "tf.compat.v1.train.Optimizer") -> "tf.compat.v1.train.Optimizer":
        """Have the optimizer step by the mean of all slots' gradients. Every optimizer must go through here.

        Args:
            optimizer: a `tf.compat.v1.train.Optimizer` or a `tf.keras.optimizers.legacy.Optimizer`. None is
                returned as it is on one slot, for estimators that make their own.

        Returns:
            The optimizer to train with.

        Raises:
            InvalidExperimentException: an optimizer of another kind, or None on several slots.
        """
        self._wrapped_optimizers += 1
        if optimizer is None and self.distributed.size > 1:
            raise InvalidExperimentException(
                "wrap_optimizer(None): on several slots the estimator's optimizer must be given, so that gradients can "
                "be averaged; pass one, such as tf.compat.v1.train.AdagradOptimizer(0.05)"
            )
        if optimizer is None or not self.env.managed_training:
            return optimizer
        optimizations = self.env.experiment_config.get_optimizations_config()
        if _parallel.horovod() is not None:
            return _parallel.horovod_optimizer(optimizer, optimizations)
        _refuse_aggregation(int(optimizations["aggregation_frequency"]))
        return averaging(optimizer, self.distributed, compress=bool(optimizations["gradient_compression"]))

    def wrap_dataset(self, dataset: "tf.data.Dataset", shard_dataset: bool = True) -> "tf.data.Dataset":
        """Have every slot read its own part of the data. Every dataset must go through here, inside of `input_fn`.

        Call it on the records, before they are shuffled and batched.

        Args:
            dataset: a `tf.data.Dataset`.
            shard_dataset: False where the data is divided by other means, or every slot shall see all of it.

        Returns:
            The dataset to go on with.

        Raises:
            InvalidExperimentException: not a `tf.data.Dataset`.
        """
        if not isinstance(dataset, tf.data.Dataset):
            raise InvalidExperimentException(
                f"wrap_dataset got a {type(dataset).__name__}; pass the tf.data.Dataset that input_fn returns"
            )
        self._wrapped_datasets += 1
        dist = self.distributed
        return dataset.shard(dist.size, dist.rank) if shard_dataset and dist.size > 1 else dataset

    def make_metric(
        self, metric: object, reducer: Callable[[list[object]], object] | MetricReducer, numpy_dtype: npt.DTypeLike
    ) -> "tuple[tf.Tensor, tf.Operation]":
        """A validation metric that is computed from the values of all batches on all slots.

        Args:
            metric: what a batch gives: a tensor, or a list, tuple or dict of tensors.
            reducer: a function of the list of all batches' values, or a MetricReducer.
            numpy_dtype: of the result.

        Returns:
            `(value_op, update_op)`, for the `eval_metric_ops` of an EstimatorSpec.

        Raises:
            TypeError: a metric or a reducer of another kind.

        Example:
            >>> context.make_metric(errors, lambda batches: max(map(np.max, batches)), np.float32)
        """
        return _reducer.metric_ops(metric, reducer, numpy_dtype, self.distributed)

    def _batch_sizes(self) -> BatchSizes:
        if self._sizes is None:
            hparams = self.get_hparams()
            if "global_batch_size" not in hparams:
                raise InvalidExperimentException(
                    f"the hyperparameters are {sorted(hparams)}; add global_batch_size, which the slots divide"
                )
            self._sizes = BatchSizes.of(hparams["global_batch_size"], self.distributed.size)
        return self._sizes


class EstimatorExperimentalContext:
    """Names of older releases."""

    def __init__(self, context: EstimatorTrialContext) -> None:
        self._context = context

    def make_metric(self, metric: object, reducer: Any, numpy_dtype: npt.DTypeLike) -> "tuple[tf.Tensor, tf.Operation]":
        """Deprecated: `context.make_metric`."""
        return self._context.make_metric(metric, reducer, numpy_dtype)

    def allgather_metrics(self, metrics: object) -> list[Any]:
        """Return every slot's value in the order of ranks, everywhere. Each slot must call it equally often."""
        return self._context.distributed.allgather(metrics)

    def cache_train_dataset(self, *args: object, **kwargs: object) -> NoReturn:
        """RuntimeError: caches of datasets are no more."""
        raise RuntimeError(_NO_CACHE.format(name="cache_train_dataset"))

    def cache_validation_dataset(self, *args: object, **kwargs: object) -> NoReturn:
        """RuntimeError: caches of datasets are no more."""
        raise RuntimeError(_NO_CACHE.format(name="cache_validation_dataset"))


_NO_CACHE = "{name} was removed in release 0.18; use tf.data.Dataset.cache, and wrap_dataset on the result"


def _refuse_aggregation(frequency: int) -> None:
    if frequency > 1:
        raise InvalidExperimentException(
            f"optimizations.aggregation_frequency={frequency} works for estimators with Horovod only; set it to 1 "
            "and raise global_batch_size, or make the entrypoint `python3 -m determined.launch.horovod --trial ...`"
        )
