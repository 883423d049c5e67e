"""TFKerasTrialContext: what a TFKerasTrial passes its model, optimizers and datasets through."""

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from determined import core
from determined._json import JsonObject
from determined.errors import InvalidExperimentException
from determined.keras._gradients import Averaging, averaging
from determined.keras._tensorflow import KERAS_3, keras, tf
from determined.keras._wrapped_model import FitCall, ModelCalls, capture, is_optimizer
from determined.trial import BatchSizes, EnvContext, TrialContext

if TYPE_CHECKING:
    from keras import Model
    from keras.optimizers import Optimizer
    from tensorflow.data import Dataset

logger = logging.getLogger("determined.keras")


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Options of training and validation that `configure_fit` sets."""

    verbose: bool = True
    class_weight: dict[int, float] | None = None
    workers: int = 1
    use_multiprocessing: bool = False
    max_queue_size: int = 10
    shuffle: bool = True
    validation_steps: int | None = None


_KEEP: object = object()


class TFKerasTrialContext(TrialContext):
    """The context of a TFKerasTrial."""

    def __init__(self, core_context: core.Context, env: EnvContext, average: Averaging | None = None) -> None:
        super().__init__(core_context, env)
        self.experimental = TFKerasExperimentalContext()
        self._average = average  # None: this process trains alone
        self._batch_sizes: BatchSizes | None = None
        self._calls: ModelCalls | None = None
        self._optimizers: list[Optimizer] = []
        self._has_wrapped_dataset = False
        self._fit_options = FitOptions()

    def get_per_slot_batch_size(self) -> int:
        """Records of a batch on one slot: what a data loader of this process takes."""
        return self._sizes().per_slot

    def get_global_batch_size(self) -> int:
        """Records of a batch on all slots together."""
        return self._sizes().over_all_slots

    def wrap_model(self, model: "Model") -> "Model":
        """Return the model. From now on its `compile` and `fit` only record their arguments: it is compiled when
        the trial begins, and trained as the experiment says.

        Raises:
            InvalidExperimentException: a second model, or no Keras model.
        """
        if not isinstance(model, keras.Model):
            raise InvalidExperimentException(f"wrap_model got a {type(model).__name__}; pass a keras.Model")
        if not self.env.managed_training:
            return model
        if self._calls is not None:
            raise InvalidExperimentException("wrap_model was called twice; a TFKerasTrial has one model")
        self._calls = capture(model)
        return model

    def wrap_optimizer(self, optimizer: "Optimizer") -> "Optimizer":
        """An optimizer that averages gradients over all slots, and whose state is part of checkpoints.

        Raises:
            InvalidExperimentException: the name of an optimizer, or `optimizations` in the config that it cannot do.
        """
        if not isinstance(optimizer, str) and any(optimizer is other for other in self._optimizers):
            return optimizer
        if not self.env.managed_training:
            return optimizer
        if isinstance(optimizer, str):
            raise InvalidExperimentException(
                f"wrap_optimizer got the name {optimizer!r}; pass an optimizer such as keras.optimizers.Adam(1e-3)"
            )
        self._check_aggregation(optimizer)
        wrapped = optimizer if self._average is None else averaging(_with_loss_scale(optimizer), self._average)
        self._optimizers.append(wrapped)
        return wrapped

    def wrap_dataset(self, dataset: "Dataset", shard_dataset: bool = True) -> "Dataset":
        """A `tf.data.Dataset` of which each slot sees its part. Call it before shuffling and batching.

        Args:
            dataset: the same on every slot.
            shard_dataset: False where your own code gives each slot its part.
        """
        if not isinstance(dataset, tf.data.Dataset):
            raise InvalidExperimentException(f"wrap_dataset got a {type(dataset).__name__}; pass a tf.data.Dataset")
        self._has_wrapped_dataset = True
        if self.distributed.size == 1 or not shard_dataset:
            return dataset
        return dataset.shard(self.distributed.size, self.distributed.rank)

    def configure_fit(
        self,
        verbose: bool | None = None,
        class_weight: object = _KEEP,
        workers: int | None = None,
        use_multiprocessing: bool | None = None,
        max_queue_size: int | None = None,
        shuffle: bool | None = None,
        validation_steps: object = _KEEP,
    ) -> None:
        """Options of training and validation; what is not given stays as it was.

        Args:
            verbose: accepted for older trials: progress is shown by the platform.
            class_weight: factors of the loss by class.
            workers: threads that read a Sequence ahead; at 1 or less batches are read as they are needed, so that
                random numbers drawn while reading are the same after a pause.
            use_multiprocessing: accepted for older trials; threads are used.
            max_queue_size: how many batches are read ahead.
            shuffle: whether arrays and Sequences are shuffled, anew in each epoch.
            validation_steps: how many batches of the validation data are used; None is all.
        """
        given: JsonObject = {
            "verbose": verbose,
            "workers": workers,
            "use_multiprocessing": use_multiprocessing,
            "max_queue_size": max_queue_size,
            "shuffle": shuffle,
        }
        changes = {name: value for name, value in given.items() if value is not None}
        changes |= {
            name: value
            for name, value in {"class_weight": class_weight, "validation_steps": validation_steps}.items()
            if value is not _KEEP
        }
        self._fit_options = replace(self._fit_options, **changes)

    def _sizes(self) -> BatchSizes:
        if self._batch_sizes is None:
            size = self.env.hparams.get("global_batch_size")
            self._batch_sizes = BatchSizes.of(size, self.distributed.size)
        return self._batch_sizes

    def _check_aggregation(self, optimizer: "Optimizer") -> None:
        """Keras 3 adds up gradients of several batches by itself; Keras 2 has no such thing."""
        optimizations = self.env.experiment_config.get_optimizations_config()
        batches = int(optimizations["aggregation_frequency"])
        if batches < 2:
            return
        if not KERAS_3 or not optimizations["average_aggregated_gradients"]:
            raise InvalidExperimentException(
                f"optimizations.aggregation_frequency={batches} is averaged by optimizers of Keras 3 alone; use "
                "TensorFlow 2.16 or later and average_aggregated_gradients: true, or set it to 1"
            )
        optimizer.gradient_accumulation_steps = batches

    def _compiled_model(self, built: "Model") -> tuple["Model", FitCall | None]:
        """The model of `build_model`, compiled now; and what its `fit` was asked for, if it was called."""
        calls = self._calls
        if calls is None or built is not calls.model:
            raise InvalidExperimentException(
                "build_model must return the model that it passed through context.wrap_model"
            )
        fit = calls.compile_now(self._for_compile, self._average is not None)
        self._look_at_optimizer(getattr(calls.model, "optimizer", None))
        self._warn_of_unwrapped(calls.model)
        return calls.model, fit

    def _look_at_optimizer(self, compiled: "Model") -> None:
        """Keras may have made the optimizer itself, or put one that scales losses around it."""
        inner = getattr(compiled, "inner_optimizer", None)
        self._optimizers = [compiled if optimizer is inner else optimizer for optimizer in self._optimizers]
        if compiled is not None:
            self.wrap_optimizer(compiled)
        if not self._optimizers:
            raise InvalidExperimentException(
                "the model was compiled without an optimizer; give model.compile one that went through "
                "context.wrap_optimizer"
            )

    def _warn_of_unwrapped(self, model: "Model") -> None:
        """Optimizer that a custom train_step uses and nobody has wrapped."""
        unwrapped = [name for name, value in vars(model).items() if is_optimizer(value) and not self._is_wrapped(value)]
        if unwrapped:
            logger.warning(
                "%s did not go through context.wrap_optimizer: its state may not outlive a pause, and gradients are "
                "not averaged over slots",
                ", ".join(f"{type(model).__name__}.{name}" for name in unwrapped),
            )

    def _is_wrapped(self, optimizer: "Optimizer") -> bool:
        optimizers = [
            each for wrapped in self._optimizers for each in (wrapped, getattr(wrapped, "inner_optimizer", None))
        ]
        return any(optimizer is each for each in optimizers)

    def _for_compile(self, argument: object) -> object:
        """An optimizer, its name or its config; wrapped, if the trial has not."""
        if is_optimizer(argument):
            return self.wrap_optimizer(argument)
        if self._average is not None:
            raise InvalidExperimentException(
                f"model.compile got optimizer={argument!r}; on several slots pass context.wrap_optimizer(...) of one"
            )
        return self.wrap_optimizer(keras.optimizers.get(argument))


class TFKerasExperimentalContext:
    """Caches of datasets, which older releases had."""

    def cache_train_dataset(self, *_args: object, **_how: object) -> NoReturn:
        raise _no_cache("cache_train_dataset")

    def cache_validation_dataset(self, *_args: object, **_how: object) -> NoReturn:
        raise _no_cache("cache_validation_dataset")


def _with_loss_scale(optimizer: "Optimizer") -> object:
    """Scale the loss here: in half precision `compile` would put it around ours, and ranks differ in whether a step is
    skipped."""
    scaling = keras.mixed_precision.LossScaleOptimizer
    is_half = keras.mixed_precision.global_policy().name == "mixed_float16"
    return scaling(optimizer) if is_half and not isinstance(optimizer, scaling) else optimizer


def _no_cache(call: str) -> RuntimeError:
    return RuntimeError(f"context.experimental.{call} is no more; use tf.data.Dataset.cache() in the data loader")
