"""Workloads: what a trial that is driven from outside of its framework's loop does next, one piece of work at a time.

Every rank walks through the same sequence; where they could differ (a request to stop, the best validation so far) the
chief's or anybody's word counts for all.
"""

import logging
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from determined import core
from determined._json import JsonObject
from determined.errors import InvalidExperimentException
from determined.trial._environment import EnvContext
from determined.trial._length import (
    WHERE_A_LENGTH_IS,
    Leg,
    OperationLeg,
    cluster_legs,
    late_length,
    length_of,
    one_leg,
)
from determined.trial._periods import Batch, Count
from determined.trial._searcher_metric import Goal

logger = logging.getLogger("determined.trial")


@dataclass(frozen=True, slots=True)
class Train:
    """Train this many batches, then call `trained`."""

    batches: int


@dataclass(frozen=True, slots=True)
class Validate:
    """Validate on all data, then call `validated`."""


@dataclass(frozen=True, slots=True)
class Save:
    """Save a checkpoint that holds `state()`, then call `saved`."""


Workload = Train | Validate | Save
_STATUS = {Train: "training", Validate: "validating", Save: "checkpointing"}


class Workloads:
    """The sequence of a trial's workloads, from where its checkpoint left off to the end of the search or a stop.

    Periodic validations come before periodic checkpoints; at the end of what the searcher asked for, the checkpoint
    comes first, unless validating alters what is saved. The searcher hears the result last: a trial that is killed
    before that comes here again.

    Args:
        core_context: reports go there.
        env: the trial's config.
        global_batch_size: records of a batch on all slots together.
        state: what `state()` said when the checkpoint was saved that this process begins with; None without one.
        records_per_epoch: needed where the config counts epochs.
        validation_alters: whether callbacks change models, optimizers or themselves by what a validation shows.

    Raises:
        ValueError: the config counts epochs and does not say how many records one has.

    Example:
        >>> workloads = Workloads(core_context, env, global_batch_size=32)
        >>> for workload in workloads:
        ...     match workload:
        ...         case Train(batches):
        ...             workloads.trained(train(batches), batches)
        ...         case Validate():
        ...             workloads.validated(evaluate())
        ...         case Save():
        ...             workloads.saved(save(workloads.state()))
    """

    def __init__(
        self,
        core_context: core.Context,
        env: EnvContext,
        *,
        global_batch_size: int,
        state: Mapping[str, object] | None = None,
        records_per_epoch: int | None = None,
        validation_alters: bool = False,
    ) -> None:
        self._core = core_context
        self._dist = core_context.distributed
        self._is_chief = self._dist.rank == 0
        self._env = env
        self._batch_size = global_batch_size
        self._epoch_length = Fraction(records_per_epoch, global_batch_size) if records_per_epoch else None
        self._alters = validation_alters
        config = env.experiment_config
        self._goal = Goal.of(config.get("searcher") or {})
        self._policy = "none" if env.test_mode else config._typed.checkpoint_policy
        self._unit = config.scheduling_unit()
        self._validation_period = self._period("min_validation_period", config.get_min_validation_period())
        self._checkpoint_period = self._period("min_checkpoint_period", config.get_min_checkpoint_period())
        self.steps_completed = self._step_id = self._last_ckpt = self._last_val = 0
        self._result: object = None  # of the validation at _last_val, for the searcher
        self._saved_is_outdated = False  # by a validation since
        self._workload: Workload | None = None  # that is not answered yet
        self._leg: Leg | None = None
        self._is_best = self._stop_requested = self._is_over = False
        self._restore(state or {})

    def __iter__(self) -> Iterator[Workload]:
        if self._should_stop():  # asked early, so that a trial in its long first chunk is known to be listening
            return
        if self._wants_initial_validation():
            yield from self._validate()
        for leg in self._legs():
            self._leg = leg
            yield from self._train_leg(leg)
            if self._is_over:
                return

    def trained(self, metrics: JsonObject, batches: int) -> None:
        """Answers Train.

        Args:
            metrics: of these batches; the chief's are reported.
            batches: how many were trained, fewer than asked for only where training has to stop.
        """
        self._answered(Train)
        self.steps_completed += batches
        self._step_id += 1
        if not self._is_chief:
            return
        self._core.train.report_training_metrics(self.steps_completed, self._with_position(metrics))
        if self._leg is not None:
            self._leg.report_progress(self._core, self.steps_completed, self._epoch_length)

    def validated(self, metrics: JsonObject) -> None:
        """Answers Validate. The chief's metrics are reported."""
        self._answered(Validate)
        self._last_val = self.steps_completed
        self._saved_is_outdated = self._alters
        if not self._is_chief:
            return
        self._is_best = self._policy == "best" and self._goal.is_best(metrics, self._core, self.steps_completed)
        self._core.train.report_validation_metrics(self.steps_completed, self._with_position(metrics))
        if self._policy == "best":
            self._goal.check(metrics)
        self._result = self._goal.result(metrics) if isinstance(self._leg, OperationLeg) else None

    def saved(self, storage_id: str) -> None:
        """Answers Save."""
        self._answered(Save)
        self._last_ckpt, self._saved_is_outdated = self.steps_completed, False
        logger.debug("checkpoint %s was saved at batch %s", storage_id, self.steps_completed)

    def stop(self) -> None:
        """End after the workload in progress, with a checkpoint; on any rank, for all."""
        self._stop_requested = True

    def state(self) -> JsonObject:
        """Return what a checkpoint that is saved now has to hold, in plain values."""
        return {
            "trial_id": int(self._env.det_trial_id),
            "last_ckpt": self.steps_completed if isinstance(self._workload, Save) else self._last_ckpt,
            "steps_completed": self.steps_completed,
            "step_id": self._step_id,
            "last_val": self._last_val,
            "searcher_result": self._result if self._last_val == self.steps_completed else None,
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Counters are this trial's own; another one's checkpoint is where this one begins."""
        if state.get("trial_id") != int(self._env.det_trial_id):
            return
        batches = next((state[name] for name in _BATCHES if state.get(name) is not None), 0)
        self.steps_completed = int(batches)
        self._step_id = int(state.get("step_id") or 0)
        self._last_ckpt, self._last_val = int(state.get("last_ckpt") or 0), int(state.get("last_val") or 0)
        self._result = state.get("searcher_result")
        # A validation that alters something must be seen by this process, or lie in the checkpoint.
        if self.steps_completed and not self._alters:
            last_validation = self._dist.broadcast(self._core.train._get_last_validation() if self._is_chief else None)
            self._last_val = last_validation if last_validation == self.steps_completed else self._last_val

    def _period(self, name: str, length: dict[str, int]) -> Count:
        """Return a period in batches; never is infinite."""
        ((unit, value),) = length.items()
        if value < 1 or self._env.test_mode:
            return math.inf
        if unit == "epochs" and self._epoch_length is None:
            raise ValueError(f"{name} counts epochs; say in the config how many records one has: records_per_epoch: n")
        return length_of(length, lambda: self._batch_size)._length(self._epoch_length)

    def _legs(self) -> Iterator[Leg]:
        config, call = self._env.experiment_config, "the trial"
        if self._env.test_mode:
            return one_leg(Batch(1))
        if self._env.on_cluster:
            return cluster_legs(config, self._core, lambda: self._batch_size, call=call, way_out=WHERE_A_LENGTH_IS)
        searcher = config.get("searcher") or {}
        return one_leg(late_length(None, searcher, lambda: self._batch_size, call, WHERE_A_LENGTH_IS))

    def _train_leg(self, leg: Leg) -> Iterator[Workload]:
        until = leg.batches(self._epoch_length)
        if until == math.inf:
            raise InvalidExperimentException(
                f"training lasts {leg.until!r}; say in the config how many records an epoch has: records_per_epoch: n"
            )
        while not self._should_stop():
            if self.steps_completed >= until:
                yield from self._finish(leg)
                return
            if self._is_due(self._last_val, self._validation_period):
                yield from self._validate()
            elif self._is_due(self._last_ckpt, self._checkpoint_period):
                yield from self._save_if_needed()
            else:
                yield from self._ask(Train(self._chunk(int(until))))
        yield from self._save_if_needed()
        self._is_over = True

    def _is_due(self, last: int, period: Count) -> bool:
        return self.steps_completed - last >= period

    def _chunk(self, until: int) -> int:
        done = self.steps_completed
        validation = self._validation_period - (done - self._last_val)
        checkpoint = self._checkpoint_period - (done - self._last_ckpt)
        return int(max(1, min(checkpoint, validation, until - done, self._unit)))

    def _finish(self, leg: Leg) -> Iterator[Workload]:
        if not self._alters:
            yield from self._save_if_needed()
        if self._needs_validation(leg):
            yield from self._validate()
        yield from self._save_if_needed()
        leg.complete(self._result, is_chief=self._is_chief)

    def _needs_validation(self, leg: Leg) -> bool:
        lacks_result = self._is_chief and isinstance(leg, OperationLeg) and self._result is None
        return self._last_val != self.steps_completed or bool(self._dist.broadcast(lacks_result))

    def _validate(self) -> Iterator[Workload]:
        yield from self._ask(Validate())
        is_due = self._policy == "all" or (self._policy == "best" and bool(self._dist.broadcast(self._is_best)))
        if is_due:
            yield from self._save_if_needed()

    def _save_if_needed(self) -> Iterator[Workload]:
        if self._last_ckpt != self.steps_completed or self._saved_is_outdated:
            yield from self._ask(Save())

    def _ask(self, workload: Workload) -> Iterator[Workload]:
        if self._is_chief:
            self._core.train.set_status(_STATUS[type(workload)])
        self._workload = workload
        yield workload
        if self._workload is not None:
            raise RuntimeError(f"{workload} has no answer; call trained(), validated() or saved() after doing it")

    def _answered(self, kind: type) -> None:
        if not isinstance(self._workload, kind):
            raise RuntimeError(f"an answer to {kind.__name__} while {self._workload} is the workload")
        self._workload = None

    def _should_stop(self) -> bool:
        """Return whether to stop: every rank comes to the same answer, whichever of them was told to stop."""
        stop = self._core.preempt.should_preempt() or self._stop_requested
        return any(self._dist.allgather(stop)) if self._dist.size > 1 else stop

    def _wants_initial_validation(self) -> bool:
        if not self._env.experiment_config._typed.perform_initial_validation or self.steps_completed:
            return False
        if self._alters:  # a trial killed before its first checkpoint begins anew, and so do its callbacks
            return True
        last_validation = self._core.train._get_last_validation() if self._is_chief else None
        return self._dist.broadcast(last_validation) is None

    def _with_position(self, metrics: JsonObject) -> JsonObject:
        batches, length = self.steps_completed, self._epoch_length
        position: JsonObject = {"batches": batches}
        if length is not None:
            epochs = batches / length
            position["epochs"] = int(epochs) if epochs.denominator == 1 else float(epochs)
        return position | metrics


_BATCHES = ("steps_completed", "latest_batch", "batches_trained")  # the same in different releases
