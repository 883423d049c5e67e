"""PyTorchTrialController: the training loop. It looks at the clock of batches only where something is due, so that a
batch costs a few microseconds beyond the user's own code."""

import functools
import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from determined import core
from determined._info import trial_of
from determined._json import JsonObject
from determined.errors import InvalidExperimentException, InvalidHP
from determined.pytorch import _first_interface, _state, _tensorboard
from determined.pytorch._batches import TrainingBatches
from determined.pytorch._callback_set import CallbackSet
from determined.pytorch._checkpoint import Checkpoints
from determined.pytorch._chunk_metrics import ChunkMetrics
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._evaluating import evaluating
from determined.pytorch._health import Health
from determined.pytorch._practices import Practices
from determined.pytorch._trial import PyTorchTrial
from determined.pytorch._trial_checks import check_loader, check_wrapped, warn_of_endless_epoch
from determined.pytorch._validation import Validation
from determined.trial import Batch, Count, Goal, Leg, OperationLeg, TrainUnit

logger = logging.getLogger("determined.pytorch")

_VALIDATION_HOOKS = (
    "on_validation_start",
    "on_validation_epoch_start",
    "on_validation_epoch_end",
    "on_validation_end",
)


@dataclass(frozen=True, slots=True)
class Plan:
    """Periods and policies of a training, as `Trainer.fit` got them. None is never."""

    reporting_period: TrainUnit = field(default_factory=lambda: Batch(100))
    validation_period: TrainUnit | None = None
    checkpoint_period: TrainUnit | None = None
    checkpoint_policy: str = "best"
    latest_checkpoint: str | None = None
    step_zero_validation: bool = False
    test_mode: bool = False
    profiling_enabled: bool = False
    is_trainer: bool = True
    async_checkpointing: bool = True


class PyTorchTrialController:
    """Trains one trial from where its checkpoint left off to the end of the last leg."""

    _CHECKPOINTS: type[Checkpoints] = Checkpoints
    _HEALTH: type[Health] = Health

    def __init__(self, trial: PyTorchTrial, context: PyTorchTrialContext, plan: Plan, legs: Iterator[Leg]) -> None:
        _first_interface.adopt(trial, context)
        self._check(trial, context)
        self.trial = trial
        self.context = context
        self.plan = plan
        self._legs = legs
        self._core: core.Context = context._core
        self._dist = self._core.distributed
        self._is_chief = self._dist.rank == 0
        self.callbacks = CallbackSet(trial.build_callbacks())
        self._checkpoints = self._CHECKPOINTS(
            trial, context, self.callbacks, is_trainer=plan.is_trainer, in_background=plan.async_checkpointing
        )
        self._goal = Goal.of(_searcher_config(self._core))
        self._health = self._HEALTH(context)
        self._practices = Practices(trial, context)
        self.state = _state.TrialState(trial_id=_trial_id(self._core))
        self._chunk = ChunkMetrics()
        self._batches: TrainingBatches
        self._stream: Iterator[Any]
        self._validation: Validation
        self._epoch_length: int | None = None

    def run(self) -> None:
        """Train. Callbacks are shut down whatever happens."""
        if self.plan.profiling_enabled:
            self._core.profiler.on()
        try:
            self._prepare()
            self._train()
            self._checkpoints.wait()
        finally:
            self._close()

    def _prepare(self) -> None:
        context, latest = self.context, self.plan.latest_checkpoint
        self.callbacks.share(self._dist)
        if self.callbacks.overrides("on_before_optimizer_step"):
            context._gradients.call_before_step(functools.partial(self.callbacks.fire, "on_before_optimizer_step"))
        self.callbacks.fire("on_trial_startup", context.get_initial_batch(), latest)
        self._open_data()
        if self._epoch_length is None and self._is_chief:
            warn_of_endless_epoch(context)
        rng = self._restore(latest)
        context._reducers.reset()
        for model in context.models:
            model.train()
        self.callbacks.fire("on_training_start")
        if self._is_chief:
            self._practices.begin()
        if rng is not None:  # last: making loaders and iterators draws random numbers, and so may callbacks
            _state.restore_rng(rng)

    def _check(self, trial: PyTorchTrial, context: PyTorchTrialContext) -> None:
        check_wrapped(trial, context)

    def _open_data(self) -> None:
        context, dist = self.context, self._dist
        training = check_loader(self.trial.build_training_data_loader(), "build_training_data_loader", context)
        validation = self.trial.build_validation_data_loader()
        self._batches = TrainingBatches(training, num_replicas=dist.size, rank=dist.rank, seed=self._data_seed())
        self._validation = Validation(self.trial, context, validation, self.callbacks)
        self._epoch_length = context._epoch_len = dist.broadcast(self._batches.epoch_length)

    def _data_seed(self) -> int:
        # Drawn on every rank: one that draws less has other random numbers than its peers from here on.
        return int(self._dist.broadcast(_data_seed(self.context)))

    def _restore(self, latest: str | None) -> Any:
        """Put everything back and open the data where the checkpoint left it; the random state is returned."""
        if latest is None:
            self._stream = self._batches.iterate(0)
            return None
        restored = self._checkpoints.restore(latest, self.state)
        self.state = restored.state
        if self.state.batches_trained:
            last = self._dist.broadcast(self._core.train._get_last_validation() if self._is_chief else None)
            if last == self.state.batches_trained:
                self.state.last_val = last
        self._stream = self._batches.iterate(self.state.batches_trained, restored.loader_state)
        logger.info("going on from checkpoint %s at batch %s", latest, self.state.batches_trained)
        return restored.rng

    def _train(self) -> None:
        if self._should_stop():  # asked early, so that a trial in its long first chunk is known to be listening
            return
        try:
            if self._wants_step_zero_validation():
                self._validate(None)
            for leg in self._legs:
                if not self._train_leg(leg):
                    return
        except InvalidHP:
            if self._dist.size == 1:  # its peers are elsewhere, and a checkpoint needs them all; core tells them
                self._checkpoint_if_needed(awaited=True)
            raise

    def _train_leg(self, leg: Leg) -> bool:
        """Return whether the leg was finished; False when training has to stop before."""
        until = leg.batches(self._epoch_length)
        if until == math.inf:
            raise InvalidExperimentException(
                f"training lasts {leg.until!r}, but the training data has no length; give the length in batches"
            )
        while self.state.batches_trained < until:
            if not self._train_chunk(leg, int(until)):
                self._checkpoint_if_needed(awaited=True)
                return False
        if not leg.is_completed:
            self._validate(leg)
        self._checkpoint_if_needed(awaited=True)
        return True

    def _train_chunk(self, leg: Leg, until: int) -> bool:
        """Train to the next moment at which something is due, and do it. False: stop here."""
        if self._is_chief:
            self._core.train.set_status("training")
        due = self._train_batches(until)
        self._report_training()
        self._checkpoints.look()
        if self._is_chief:
            leg.report_progress(self._core, self.state.batches_trained, self._epoch_length)
        for what in due:
            if what == "validate" and self.state.last_val != self.state.batches_trained:
                self._validate(leg)
            elif what == "checkpoint":
                self._checkpoint_if_needed()
            self.context._flush_tensorboard()
            _tensorboard.upload(self._core)
            if self._should_stop():
                return False
        return True

    def _train_batches(self, until: int) -> list[str]:
        """Train at least a batch and on until something is due; what is due, in the order it is done in."""
        self.context._reducers.reset()
        while True:
            self._train_epochs(int(min(until, self._next_moment())))
            due = self._due(until)
            if due:
                return due

    def _next_moment(self) -> Count:
        done, epoch = self.state.batches_trained, self._epoch_length
        return min(period._next(done, epoch) for period in self._periods().values() if period is not None)

    def _due(self, until: int) -> list[str]:
        done, epoch = self.state.batches_trained, self._epoch_length
        due = [what for what, period in self._periods().items() if period and period._fires(done, epoch)]
        if done < until:
            return due
        return ["train", *(what for what in due if what != "report")]

    def _periods(self) -> dict[str, TrainUnit | None]:
        plan = self.plan
        return {
            "validate": plan.validation_period,
            "checkpoint": plan.checkpoint_period,
            "report": plan.reporting_period,
        }

    def _train_epochs(self, end: int) -> None:
        """Train batches up to `end`, with the hooks of every epoch that begins or ends there."""
        length = self._epoch_length or math.inf
        while self.state.batches_trained < end:
            first = self.state.batches_trained
            epoch = int(first // length)
            last = min(end, (epoch + 1) * length)
            if first == epoch * length or first == 0:
                self.context._current_batch_idx = first  # the hook may ask where training is
                self.callbacks.fire("on_training_epoch_start", epoch)
            self._run_batches(first, int(last), epoch)
            if last == (epoch + 1) * length:
                self.state.epochs_trained = epoch + 1
                self.callbacks.fire("on_training_epoch_end", epoch)

    def _run_batches(self, first: int, end: int, epoch: int) -> None:
        """The hot loop: names are looked up once, not for every batch."""
        context, state, stream = self.context, self.state, self._stream
        train_batch, add = self.trial.train_batch, self._chunk.add
        before, after = context._before_batch, context._after_batch
        schedulers, length, every = context.lr_schedulers, self._epoch_length, context._aggregation_frequency
        move = context.to_device if context._auto_to_device else None
        for index in range(first, end):
            batch = next(stream)
            if move is not None:
                batch = move(batch)
            before(index)
            add(train_batch(batch=batch, epoch_idx=epoch, batch_idx=index))
            after()
            for scheduler in schedulers:
                scheduler._after_batch(index, length, every)
            state.batches_trained = index + 1

    def _report_training(self) -> None:
        self.state.step_id += 1
        averages, per_batch = self._chunk.take(self._dist)
        averages |= self.context._reducers.reduce(self._dist, for_training=True)
        self.callbacks.fire("on_training_workload_end", averages, per_batch)
        if not self._is_chief:
            return
        self._health.look(self.state.batches_trained, averages, per_batch)
        self._core.train.report_training_metrics(self.state.batches_trained, self._with_position(averages))

    def _validate(self, leg: Leg | None) -> None:
        if self._is_chief:
            self._core.train.set_status("validating")
        metrics = self._validation.run(self._dist, max_batches=1 if self.plan.test_mode else None)
        self.state.last_val = self.state.batches_trained
        is_end = leg is not None and self.state.batches_trained >= leg.batches(self._epoch_length)
        is_best = self._report_validation(metrics) if self._is_chief else False
        self._tell_callbacks(metrics)
        self._outdate_checkpoint()
        if self._policy_wants_checkpoint(is_best) or is_end:
            self._checkpoint_if_needed(awaited=is_end)
        if self._is_chief and self.plan.checkpoint_policy == "best":
            self._goal.check(metrics)  # after all was reported and saved: a wrong name must not lose it
        if leg is not None and is_end:  # last: a trial whose last operation is complete would not be started again
            wants_metric = self._is_chief and isinstance(leg, OperationLeg)
            leg.complete(self._goal.result(metrics) if wants_metric else None, is_chief=self._is_chief)

    def _tell_callbacks(self, metrics: JsonObject) -> None:
        """Call callbacks in evaluation mode: what a callback computes with the models is no training."""
        if self.callbacks.anywhere("on_validation_end"):
            with evaluating(self.context.models, in_step=True):
                self.callbacks.fire("on_validation_end", metrics)

    def _report_validation(self, metrics: JsonObject) -> bool:
        """Tell the master, on the chief; whether this is the experiment's best so far."""
        batches = self.state.batches_trained
        is_best = self.plan.checkpoint_policy == "best" and self._goal.is_best(metrics, self._core, batches)
        self._core.train.report_validation_metrics(batches, self._with_position(metrics))
        return is_best

    def _outdate_checkpoint(self) -> None:
        """Mark a checkpoint saved here before the validation as old: it lacks what callbacks made of the validation."""
        is_here = self.state.last_ckpt == self.state.batches_trained > 0
        if is_here and self._watches_validations():
            self.state.last_ckpt = 0

    def _watches_validations(self) -> bool:
        return any(self.callbacks.anywhere(hook) for hook in _VALIDATION_HOOKS)

    def _policy_wants_checkpoint(self, is_best: bool) -> bool:
        if self.plan.checkpoint_policy == "best":
            return bool(self._dist.broadcast(is_best))
        return self.plan.checkpoint_policy == "all"

    def _checkpoint_if_needed(self, *, awaited: bool = False) -> None:
        state = self.state
        if state.last_ckpt == state.batches_trained:
            return
        if self._is_chief:
            self._core.train.set_status("checkpointing")
            self._practices.look()
        self.context._flush_tensorboard()  # who resumes from the checkpoint does not write these steps again
        previous, state.last_ckpt = state.last_ckpt, state.batches_trained
        try:
            self._checkpoints.save(state, self._batches, awaited=awaited)
        except InvalidHP:
            raise  # a callback's word: it is not asked again by another checkpoint
        except BaseException:
            state.last_ckpt = previous
            raise

    def _should_stop(self) -> bool:
        """Return whether to stop: every rank comes to the same answer, whichever of them was told to stop."""
        stop = self._core.preempt.should_preempt() or self.context.get_stop_requested()
        return any(self._dist.allgather(stop)) if self._dist.size > 1 else stop

    def _wants_step_zero_validation(self) -> bool:
        if not self.plan.step_zero_validation or self.state.batches_trained:
            return False
        # A trial killed before its first checkpoint begins anew, and so do its callbacks.
        if self._watches_validations():
            return True
        last_validation = self._core.train._get_last_validation() if self._is_chief else None
        return self._dist.broadcast(last_validation) is None

    def _with_position(self, metrics: JsonObject) -> JsonObject:
        batches, length = self.state.batches_trained, self._epoch_length
        position: JsonObject = {"batches": batches}
        if length:
            position["epochs"] = batches // length if batches % length == 0 else batches / length
        return position | metrics

    def _close(self) -> None:
        try:
            self.callbacks.shut_down()
        finally:
            if hasattr(self, "_batches"):
                self._batches.close()
            if self.plan.profiling_enabled:
                self._core.profiler.off()


def _trial_id(core_context: core.Context) -> int:
    info = trial_of(core_context.info)
    return 0 if info is None else info.trial.trial_id


def _searcher_config(core_context: core.Context) -> JsonObject:
    info = trial_of(core_context.info)
    config = {} if info is None else info.trial._config
    return config.get("searcher") or {}


def _data_seed(context: PyTorchTrialContext) -> int:
    """The trial's seed; off cluster there is none, and the order of the data is as random as the user's own seed."""
    if context._trial_seed is not None:
        return context._trial_seed
    return int(torch.randint(2**31, (1,)).item())
