"""TFKerasTrialController: the training loop of a TFKerasTrial, workload by workload."""

import logging
from typing import TYPE_CHECKING, Any

from determined._json import JsonObject
from determined.errors import InvalidExperimentException
from determined.keras import _batches
from determined.keras._building import build_uncallable, unbuilt
from determined.keras._callback_set import CallbackSet, numbers_of
from determined.keras._checkpoint import Checkpoints, Restored
from determined.keras._context import TFKerasTrialContext
from determined.keras._inputs import is_dataset
from determined.keras._model_inputs import describe
from determined.keras._optimizer_state import build_optimizer
from determined.keras._random_state import restore_random_state
from determined.keras._tensorflow import keras, tf
from determined.keras._trial import TFKerasTrial
from determined.keras._wrapped_model import FitCall
from determined.trial import AttributeWatch, Save, Train, Validate, Workloads

if TYPE_CHECKING:
    from tensorflow.data import Dataset

logger = logging.getLogger("determined.keras")


class TFKerasTrialController:
    """Trains one trial from where its checkpoint left off to the end of the search."""

    def __init__(self, trial: TFKerasTrial, context: TFKerasTrialContext) -> None:
        self._trial = trial
        self._context = context
        self._dist = context.distributed
        config = context.env.experiment_config
        self._averages_training = config.average_training_metrics_enabled()
        self._records_per_epoch = config.get_records_per_epoch()
        self._model, fit = context._compiled_model(trial.build_model())
        self._training, self._validation = _data_of(trial, fit)
        if fit is not None:
            context.configure_fit(**fit.options)
        _check_datasets(context, self._training, self._validation)
        _warn_of_session(trial)
        callbacks = [*trial.keras_callbacks(), *(fit.callbacks if fit is not None else [])]
        self._epoch_length = self._batches_per_epoch()
        tensorboard = context.get_tensorboard_path if self._dist.rank == 0 else None
        self._callbacks = CallbackSet(callbacks, self._model, self._epoch_length, tensorboard)
        self._checkpoints = Checkpoints(trial, context, self._model, self._callbacks)
        self._build()
        self._validation_dataset, self._validation_batches = _batches.validation_dataset(
            self._validation, batch_size=context.get_per_slot_batch_size(), rank=self._dist.rank, size=self._dist.size
        )
        if self._validation_steps() is None:
            _batches.check_end(self._validation_dataset)

    def run(self) -> None:
        latest = self._context.env.latest_checkpoint
        restored = Restored(None, None) if latest is None else self._checkpoints.restore(latest)
        self._checkpoints.share()
        self._workloads = Workloads(
            self._context._core,
            self._context.env,
            global_batch_size=self._context.get_global_batch_size(),
            state=restored.workloads,
            records_per_epoch=self._records_per_epoch,
            validation_alters=any(self._dist.allgather(self._callbacks.watch_validations)),
        )
        self._begin(restored)
        watch = AttributeWatch(
            self._trial, remedy="keep it in a callback of determined.keras.callbacks, with get_state and load_state"
        )
        for workload in self._workloads:
            match workload:
                case Train(batches):
                    self._train(batches)
                case Validate():
                    self._validate()
                case Save():
                    if self._dist.rank == 0:
                        watch.look()
                    self._workloads.saved(self._checkpoints.save(self._workloads.state()))
            if self._model.stop_training or self._context.get_stop_requested():
                self._workloads.stop()
        self._callbacks.train_end()

    def _begin(self, restored: Restored) -> None:
        steps = self._workloads.steps_completed
        if restored.workloads is not None:
            logger.info("going on from checkpoint %s at batch %s", self._context.env.latest_checkpoint, steps)
        self._iterator = iter(self._training_dataset(steps))
        self._model.stop_training = False
        self._model.make_train_function()
        self._callbacks.train_begin(steps)
        if restored.rng is not None:  # last: opening data and callbacks may draw
            restore_random_state(restored.rng, self._model)

    def _train(self, batches: int) -> None:
        first = self._workloads.steps_completed
        self._model.reset_metrics()
        self._callbacks.workload_begin(first, batches)
        logs: Any = {}
        done = 0
        while done < batches:
            logs = self._train_batch(first + done)
            done += 1
            if self._dist.size == 1 and (self._model.stop_training or self._context.get_stop_requested()):
                break  # peers would wait for the gradients of this one: with several ranks the chunk is finished
        metrics = self._averaged([numbers_of(logs)]) if not self._averages_training else self._over_ranks(logs)
        self._callbacks.workload_end(first + done, metrics)
        self._workloads.trained(metrics, done)

    def _train_batch(self, batch: int) -> object:
        length, callbacks = self._epoch_length, self._callbacks
        if length is not None and batch % length == 0:
            callbacks.epoch_begin(batch // length)
        callbacks.batch_begin(batch)
        try:
            logs = self._model.train_function(self._iterator)
        except tf.errors.OutOfRangeError as err:
            raise _no_training_data() from err
        except ValueError as err:
            self._note_late_parts(err)
            raise
        callbacks.batch_end(batch, logs)
        if length is not None and (batch + 1) % length == 0:
            callbacks.epoch_end(batch // length)
        return logs

    def _validate(self) -> None:
        self._checkpoints.share_statistics()
        hooks = self._callbacks.during_validation()
        metrics: JsonObject = {}
        if self._validation_batches != 0:
            logs = self._model.evaluate(
                self._validation_dataset,
                steps=self._validation_steps(),
                callbacks=[hooks],
                verbose=0,
                return_dict=True,
            )
            metrics = {f"val_{name}": value for name, value in numbers_of(logs).items()}
        everybody = self._dist.allgather((metrics, hooks.batches))
        metrics = _mean([part for part, count in everybody if count], [count for _, count in everybody if count])
        self._callbacks.test_end(metrics)
        self._workloads.validated(metrics)

    def _validation_steps(self) -> int | None:
        """Return this rank's share of what configure_fit says."""
        steps = 1 if self._context.env.test_mode else self._context._fit_options.validation_steps
        if steps is None:
            return None
        share = max(steps // self._dist.size, 1)
        return share if self._validation_batches is None else min(share, self._validation_batches)

    def _over_ranks(self, logs: JsonObject | None) -> JsonObject:
        return self._averaged(self._dist.allgather(numbers_of(logs)))

    def _averaged(self, everybody: list[JsonObject]) -> JsonObject:
        return _mean(everybody, [1] * len(everybody))

    def _training_dataset(self, step: int) -> "Dataset":
        return _batches.training_dataset(
            self._training,
            step=step,
            batch_size=self._context.get_per_slot_batch_size(),
            seed=self._context.get_trial_seed(),
            rank=self._dist.rank,
            size=self._dist.size,
            options=self._context._fit_options,
        )

    def _batches_per_epoch(self) -> int | None:
        if self._records_per_epoch is None:
            return None
        return max(self._records_per_epoch // self._context.get_global_batch_size(), 1)

    def _build(self) -> None:
        """Make every variable, so that there is something to load a checkpoint into."""
        build_uncallable(keras, self._model)
        if not self._model.built:
            x, *_ = self._first_batch()
            self._model(x, training=False)
            self._checkpoints.inputs = describe(x)
        self._unbuilt = unbuilt(keras, self._model)
        for optimizer in self._context._optimizers:
            build_optimizer(optimizer, self._model.trainable_variables)

    def _note_late_parts(self, error: ValueError) -> None:
        """Optimizers are built by now: those of Keras 3 refuse variables that come later, and do not say what to do."""
        late = [part.name for part in self._unbuilt if part.built]
        if late:
            error.add_note(
                f"parts of {type(self._model).__name__} have no variables before their first batch, so that optimizers "
                f"do not know them; give them an Input, or call them on a batch in build_model: {', '.join(late)}"
            )

    def _first_batch(self) -> Any:
        for batch in self._training_dataset(0).take(1):
            return batch if isinstance(batch, tuple) else (batch,)
        raise _no_training_data()


def _data_of(trial: TFKerasTrial, fit: FitCall | None) -> tuple[object, object]:
    """Return the data of the trial's loaders, unless `model.fit` was given the data."""
    if fit is None or fit.x is None:
        return trial.build_training_data_loader(), trial.build_validation_data_loader()
    if fit.y is None:
        return fit.x, fit.validation_data
    return (fit.x, fit.y, fit.sample_weight), fit.validation_data


def _check_datasets(context: TFKerasTrialContext, *data: object) -> None:
    if any(is_dataset(each) for each in data) and not context._has_wrapped_dataset:
        raise InvalidExperimentException(
            "a tf.data.Dataset was not passed through context.wrap_dataset; call it before shuffling and batching, so "
            "that each slot gets its part of the data"
        )


def _no_training_data() -> InvalidExperimentException:
    return InvalidExperimentException("the training dataset is empty on this slot; give each slot at least a batch")


def _warn_of_session(trial: TFKerasTrial) -> None:
    if trial.session_config() is not None:
        logger.warning("session_config() is ignored: TensorFlow 2 has no sessions; use tf.config instead")


def _mean(everybody: list[JsonObject], weights: list[int]) -> JsonObject:
    """Metrics of all ranks; what is no number is the first one's."""
    first = everybody[0] if everybody else {}
    if len(everybody) < 2:
        return first
    return {name: _mean_of([part.get(name) for part in everybody], weights) for name in first}


def _mean_of(values: list[Any], weights: list[int]) -> object:
    if not all(isinstance(value, float | int) for value in values):
        return values[0]
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)
