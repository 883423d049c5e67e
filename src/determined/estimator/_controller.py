"""EstimatorTrialController: trains one EstimatorTrial in one session, from its checkpoint to the end or a pause."""

import contextlib
import logging
import pickle
import random
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from determined import core
from determined._json import JsonObject
from determined.errors import InvalidExperimentException
from determined.estimator._context import EstimatorTrialContext
from determined.estimator._control_hook import ControlHook
from determined.estimator._hooks import RunHook, fire
from determined.estimator._managed import managed_estimator, training_input, validation_input
from determined.estimator._trial import EstimatorTrial, ServingInputReceiverFn
from determined.estimator._validation import BatchCount, means, over_ranks, plain
from determined.estimator._weights import Weights, copy_weights
from determined.trial import WORKLOADS_FILE, AttributeWatch, Origin, Workloads, metadata, read_plain_state

logger = logging.getLogger("determined.estimator")

# In a checkpoint, by files of ours.
_TAKEN_NAMES = ("checkpoint", "code", "load_data.json", "metadata.json", WORKLOADS_FILE)
_PLAIN = (
    bool,
    int,
    float,
    str,
    bytes,
    np.ndarray,
    np.generic,
    random.Random,
    np.random.Generator,
    np.random.RandomState,
)
_REMEDY = "keep it in a RunHook, which writes it to a file in on_checkpoint_end and reads it in on_checkpoint_load"
# What the platform decides or does by other means -> the means.
_UNHEARD_TRAIN = {
    "max_steps": "searcher.max_length in the config says how long training lasts",
    "saving_listeners": "a RunHook in hooks gets checkpoints by on_checkpoint_end",
}
_UNHEARD_VALIDATION = {"exporters": "build_serving_input_receiver_fns says what each checkpoint is exported for"}


class EstimatorTrialController:
    """Trains a trial; validations and checkpoints happen between two batches of the one training session."""

    def __init__(self, trial: EstimatorTrial, context: EstimatorTrialContext) -> None:
        self.trial = trial
        self.context = context
        self._core: core.Context = context._core
        self._dist = self._core.distributed
        config = context.env.experiment_config
        self._origin = Origin(type(trial), "EstimatorTrial", self._core, hparams=context.get_hparams(), config=config)
        self._averages_training = config.average_training_metrics_enabled()
        self.train_spec: tf.estimator.TrainSpec = None
        self.validation_spec: tf.estimator.EvalSpec = None
        self.estimator: tf.estimator.Estimator = None
        self._served: dict[str, ServingInputReceiverFn] = {}
        self._hooks: list[object] = []
        self._restored: Path | None = None
        self._while_restoring = contextlib.ExitStack()
        self._watch: AttributeWatch
        self._weights: Weights
        self._workloads: Workloads
        self._control: ControlHook | None = None
        self._spec: tf.estimator.EstimatorSpec = None
        self._summary_steps: int | None = None
        self._events: tf.compat.v1.summary.FileWriter = None  # writes them

    def run(self) -> None:
        """Train. Hooks hear of the end whatever happens."""
        with tempfile.TemporaryDirectory(prefix="determined-estimator-") as directory, self._while_restoring:
            self._build(Path(directory))
            self._watch = AttributeWatch(self.trial, _is_of_a_graph, _REMEDY)
            try:
                self._train()
            finally:
                fire(self._hooks, "on_trial_close")
                if self._events is not None:
                    self._events.close()

    def _build(self, directory: Path) -> None:
        context, env = self.context, self.context.env
        self._weights = Weights(directory, self._dist)
        built = self.trial.build_estimator()
        self.estimator = managed_estimator(built, context, directory, self._add_hooks)
        self._summary_steps = built.config.save_summary_steps
        self.train_spec = _checked(self.trial.build_train_spec(), tf.estimator.TrainSpec, "build_train_spec")
        self.validation_spec = _checked(
            self.trial.build_validation_spec(), tf.estimator.EvalSpec, "build_validation_spec"
        )
        self._served = _checked_names(self.trial.build_serving_input_receiver_fns())
        self._hooks = self._hooks_with(())
        if self._dist.rank == 0:
            _warn_of_unheard(self.train_spec, _UNHEARD_TRAIN)
            _warn_of_unheard(self.validation_spec, _UNHEARD_VALIDATION)
        self._workloads = Workloads(
            self._core,
            env,
            global_batch_size=context.get_global_batch_size(),
            state=None if env.latest_checkpoint is None else self._restore(env.latest_checkpoint),
            records_per_epoch=env.experiment_config.get_records_per_epoch(),
            validation_alters=any(isinstance(hook, RunHook) for hook in self.validation_spec.hooks),
        )

    def _restore(self, storage_id: str) -> JsonObject | None:
        """The checkpoint stays at hand until the hooks, some of which the model brings, have seen it."""
        self._restored = self._while_restoring.enter_context(self._core.checkpoint.restore_path(storage_id))
        self._weights.put_back(self._restored)
        state = read_plain_state(self._restored)
        if state is None:
            logger.warning("checkpoint %s does not say how far it was trained: batches are counted from 0", storage_id)
        return state

    def _train(self) -> None:
        done = self._workloads.steps_completed
        if done:
            logger.info("going on from checkpoint %s at batch %s", self.context.env.latest_checkpoint, done)
        data = training_input(self.train_spec.input_fn, self.context, done)
        self.estimator.train(data, hooks=list(self.train_spec.hooks))
        if self._control is None or not self._control.is_over:
            raise InvalidExperimentException(
                f"the training data ended after {self._workloads.steps_completed} batches, though it is repeated: see "
                "that the input_fn of build_train_spec returns a dataset with records, also after wrap_dataset has "
                "divided it and batch(drop_remainder=True) dropped a rest"
            )

    def _add_hooks(self, spec: "tf.estimator.EstimatorSpec") -> object:
        """The EstimatorSpec of training with hooks of ours; those of the model come before them."""
        if not self.context._wrapped_optimizers:
            raise InvalidExperimentException(
                "the model trains with an optimizer that did not go through context.wrap_optimizer; wrap it in "
                "build_estimator or in the model_fn, else slots would train models of their own"
            )
        self._spec = spec
        chief_hooks = spec.training_chief_hooks if self._dist.rank == 0 else ()
        self._hooks = self._hooks_with((*spec.training_hooks, *chief_hooks))
        self._control = ControlHook(
            self._workloads,
            spec.loss,
            self._dist,
            prepare=self._tell_hooks_of_checkpoint,
            validate=self._validate,
            save=self._save,
            should_stop=self.context.get_stop_requested,
            report=self._training_metrics,
        )
        return spec._replace(
            training_hooks=(*spec.training_hooks, *self._summary_hooks(spec), self._control),
            training_chief_hooks=chief_hooks,  # every rank is the chief of a session of its own
        )

    def _hooks_with(self, of_model: tuple[object, ...]) -> list[object]:
        """Return all that hear of checkpoints and the end, each once: one may take part in training and validation."""
        return list(dict.fromkeys((*self.train_spec.hooks, *of_model, *self.validation_spec.hooks)))

    def _summary_hooks(self, spec: "tf.estimator.EstimatorSpec") -> list[object]:
        """Summaries of the model, on the chief. Their numbers are also reported, and drawn by the page."""
        every = self._summary_steps
        if self._dist.rank != 0 or not self.context.env.on_cluster or not every:
            return []
        # Without the graph, which holds all the data of a dataset that was made from arrays.
        self._events = tf.compat.v1.summary.FileWriter(str(self.context.get_tensorboard_path()))
        return [tf.estimator.SummarySaverHook(save_steps=every, summary_writer=self._events, scaffold=spec.scaffold)]

    def _tell_hooks_of_checkpoint(self) -> None:
        if self._restored is not None:
            fire(self._hooks, "on_checkpoint_load", str(self._restored))
            self._restored = None
            self._while_restoring.close()

    def _training_metrics(self, own: JsonObject) -> JsonObject:
        if self._events is not None:  # core copies what lies there after each report
            self._events.flush()
        if self._dist.size == 1 or not self._averages_training:
            return own
        everybody = self._dist.gather(own)
        return own if everybody is None else means(everybody)

    def _validate(self, session: "tf.compat.v1.Session") -> JsonObject:
        began, count, spec = time.monotonic(), BatchCount(), self.validation_spec
        weights = self._weights.everywhere(self._spec.scaffold.saver, session, self._workloads.steps_completed)
        metrics = self.estimator.evaluate(
            validation_input(spec.input_fn, self.context),
            steps=1 if self.context.env.test_mode else spec.steps,
            hooks=[*spec.hooks, count],
            checkpoint_path=str(weights),
            name=spec.name,
        )
        seconds = time.monotonic() - began
        logger.info("validated: %s batches in %.1fs (%.1f batches/s)", count.batches, seconds, count.batches / seconds)
        everybody = self._dist.gather((plain(metrics), count.batches))
        return {} if everybody is None else over_ranks(everybody)

    def _save(self, session: "tf.compat.v1.Session") -> str:
        storage_id, batches = None, self._workloads.steps_completed
        if self._dist.rank == 0:
            self._watch.look()
            about = metadata(batches, f"tensorflow-{tf.__version__}", "saved_model")
            weights = self._weights.written(self._spec.scaffold.saver, session, batches)
            with self._core.checkpoint.store_path(about) as (path, storage_id):
                self._write(path, weights)
        return str(self._dist.broadcast(storage_id))

    def _write(self, path: Path, weights: Path) -> None:
        copy_weights(weights, path)
        for name, receiver in self._served.items():
            self.estimator.export_saved_model(str(path / name), receiver, checkpoint_path=str(weights))
        with (path / WORKLOADS_FILE).open("wb") as stream:
            pickle.dump(self._workloads.state(), stream)
        self._origin.write(path)
        fire(self._hooks, "on_checkpoint_end", str(path))


def _is_of_a_graph(value: object) -> bool:
    """Return what a model_fn leaves on the trial is made anew with every graph: a resume does not lose it."""
    if isinstance(value, dict):
        return any(map(_is_of_a_graph, value.values()))
    if isinstance(value, list | tuple | set | frozenset | deque):
        return any(map(_is_of_a_graph, value))
    return value is not None and not isinstance(value, _PLAIN)


def _checked(returned: object, kind: Any, method: str) -> object:
    if not isinstance(returned, kind):
        raise InvalidExperimentException(
            f"{method} returned a {type(returned).__name__}; return a tf.estimator.{kind.__name__}"
        )
    return returned


def _warn_of_unheard(spec: "tf.estimator.EstimatorSpec", settings: dict[str, str]) -> None:
    for name, instead in settings.items():
        if getattr(spec, name):
            logger.warning("%s.%s is ignored: %s", type(spec).__name__, name, instead)


def _checked_names(functions: object) -> dict[str, ServingInputReceiverFn]:
    if not isinstance(functions, dict):
        raise InvalidExperimentException(
            f"build_serving_input_receiver_fns returned a {type(functions).__name__}; return a dict of names and "
            "functions, which may be empty"
        )
    for name in functions:
        if name in ("", "..", *_TAKEN_NAMES) or Path(name).name != name:
            raise InvalidExperimentException(
                f"build_serving_input_receiver_fns has the name {name!r}; give the name of a directory, other than "
                f"{', '.join(_TAKEN_NAMES)}"
            )
    return functions
