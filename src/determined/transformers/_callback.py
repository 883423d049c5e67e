"""DetCallback: one callback in a `transformers.Trainer` that reports, saves, resumes, pauses and follows the search."""

import logging
import math
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from determined import core
from determined.transformers import _checkpoints, _lengths, _logs
from determined.trial import Batch, FollowedSearch, trial_config

logger = logging.getLogger("determined.transformers")


class DetCallback(TrainerCallback):  # type: ignore[misc]
    """Connects a Trainer with the platform. Add it to the Trainer of every rank.

    What the Trainer logs is reported; what it saves is stored; a trial that is paused saves where it is and goes on
    there, batch for batch. At the end of the training, and where the searcher wants to know, it validates and saves
    whatever the Trainer's own strategies say, unless `eval_strategy` is "no".

    Args:
        core_context: from `core.init`, with `distributed` if there are several ranks.
        args: the Trainer's arguments. If this trial has a checkpoint it is fetched into `args.output_dir`, and
            `args.resume_from_checkpoint` is where `trainer.train` goes on.
        filter_metrics: report only metrics whose names contain one of these; the searcher's are always reported.
        user_data: JSON data kept as `my_data.json` in each checkpoint.

    Raises:
        RuntimeError: this process is no trial on a cluster.
        ValueError: the script trains for another length than the searcher's config says, or would not validate and
            save where the searcher's operations end.

    Example:
        >>> callback = DetCallback(core_context, args)
        >>> trainer = Trainer(model, args, train_dataset=data, eval_dataset=held_out, callbacks=[callback])
        >>> trainer.train(resume_from_checkpoint=args.resume_from_checkpoint)
    """

    def __init__(
        self,
        core_context: core.Context,
        args: Any,
        filter_metrics: list[str] | None = None,
        user_data: dict[str, Any] | None = None,
    ) -> None:
        config = trial_config(core_context)
        if not config or core_context.info is None:
            raise RuntimeError(
                "DetCallback needs a trial on a cluster; submit this script with det experiment create, or leave the "
                "callback out where det.get_cluster_info() is None"
            )
        self._core = core_context
        self._is_chief = core_context.distributed.rank == 0
        self._trial_id = core_context.info.trial.trial_id
        self._wanted = filter_metrics
        self._user_data = user_data
        searcher = config.get("searcher") or {}
        self._needed = [str(searcher[key]) for key in ("metric", "time_metric") if searcher.get(key)]
        self._search = FollowedSearch(core_context, lambda: _global_batch_size(args))
        self._percent = -1
        self._reported: dict[str, tuple[int, set[str]]] = {}  # group: its last step, and the names that are told of it
        self._evaluation: tuple[int, dict[str, Any]] = (-1, {})  # step and metrics of the last
        self._is_checked = True
        self._saved_at = -1
        self._is_leaving = False
        _lengths.check_lengths(config, args, _global_batch_size(args))
        if self._search.is_classic:
            _lengths.check_strategies(args)
        self._resume(args, core_context.info.latest_checkpoint)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        self._set_status("training")
        # Asked once before the first step, which may be long: the cluster then knows that it will be heard.
        self._core.preempt.should_preempt(auto_ack=False)
        self._search.start()
        if state.global_step:
            self._saved_at = state.global_step
            self._evaluation = (state.global_step, _evaluation_at(state))
            self._complete(state, control)  # what it had not been able to tell before it was killed
        return control

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        self._check_evaluation()
        self._complete(state, control)
        return control

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        self._report_progress(state)
        if self._search.is_over:
            return _leave_silently(control)
        if _is_whole(state.epoch) or state.global_step >= state.max_steps:
            return control  # on_epoch_end follows at once
        if isinstance(self._search.until, Batch) and self._search.is_due(state.global_step, None):
            self._wind_up(args, state, control)
        self._is_leaving = self._core.preempt.should_preempt()
        if self._is_leaving:  # logging, too, or what was averaged since the last time would be lost
            control.should_save = control.should_log = control.should_training_stop = True
        return control

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        """A Trainer calls it too where an epoch is broken off."""
        if self._search.is_over or self._is_leaving:
            return _leave_silently(control)
        self._is_leaving = self._core.preempt.should_preempt()
        is_end = state.global_step >= state.max_steps or control.should_training_stop
        if is_end or self._search.is_due(state.global_step, _epoch_length(state)):
            self._wind_up(args, state, control)
        if self._is_leaving:
            control.should_save = self._saved_at != state.global_step or control.should_evaluate
            control.should_log = control.should_training_stop = True
        return control

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any) -> Any:
        found = dict(logs or {})
        group = _logs.group_of(found)
        if group == _logs.TRAINING and _logs.is_summary(found) and (self._is_leaving or self._search.is_over):
            return control  # of a part of a training
        position = {"batches": state.global_step, "epochs": state.epoch}
        metrics = position | _logs.chosen(found, self._wanted, self._needed)
        if group == _logs.VALIDATION:
            step, before = self._evaluation
            self._evaluation = (state.global_step, before | metrics if step == state.global_step else metrics)
            self._is_checked = False
        self._report(group, state.global_step, metrics)
        return control

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        self._check_evaluation()
        self._set_status("checkpointing")
        _checkpoints.store(self._core, Path(args.output_dir), state.global_step, self._trial_id, self._user_data)
        self._saved_at = state.global_step
        self._set_status("training")
        self._complete(state, control)
        return control

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        self._check_evaluation()
        self._complete(state, control)
        return control

    def _resume(self, args: Any, latest: str | None) -> None:
        if latest is None:
            return
        if getattr(args, "overwrite_output_dir", False):  # transformers 4 had it
            logger.info("overwrite_output_dir is set: checkpoint %s is not fetched, and training begins anew", latest)
            return
        directory = _checkpoints.fetch(self._core, latest, Path(args.output_dir), self._trial_id)
        args.resume_from_checkpoint = str(directory)
        logger.info("training goes on from %s", directory)

    def _wind_up(self, args: Any, state: Any, control: Any) -> None:
        """Validate and save here, if that has not been done at this very step."""
        is_evaluated = self._evaluation[0] == state.global_step or _lengths.name_of(args.eval_strategy) == "no"
        control.should_evaluate = not is_evaluated
        control.should_save = self._saved_at != state.global_step or control.should_evaluate

    def _complete(self, state: Any, control: Any) -> None:
        """Tell the searcher how good the model is; after it is saved, or a trial that is killed now would have ended
        without a checkpoint."""
        step, metrics = self._evaluation
        if step == state.global_step and metrics and self._saved_at == step:
            self._search.complete(metrics, step, _epoch_length(state))
        if self._search.is_over:
            control.should_training_stop = True

    def _report(self, group: str, step: int, metrics: dict[str, Any]) -> None:
        """A group is reported once a step; of several evaluation datasets each brings names of its own."""
        last, told = self._reported.get(group, (-1, set()))
        told = told if last == step else set()
        is_repeated = bool(told) and group == _logs.TRAINING
        new = {name: value for name, value in metrics.items() if name not in told}
        if is_repeated or not new:
            return
        self._reported[group] = (step, told | metrics.keys())
        if self._is_chief:
            self._core.train.report_metrics(group, step, new)

    def _report_progress(self, state: Any) -> None:
        percent = 100 * state.global_step // max(state.max_steps, 1)
        if percent == self._percent:
            return
        self._percent = percent
        if self._search.is_classic:
            self._search.report_progress(state.global_step, max(round(state.global_step / state.epoch), 1))
        elif self._is_chief:
            self._core.train.report_progress(min(state.global_step / max(state.max_steps, 1), 1.0))

    def _check_evaluation(self) -> None:
        """All of its parts are there now."""
        if self._is_checked:
            return
        self._is_checked = True
        step, metrics = self._evaluation
        missing = [name for name in self._needed if name not in metrics]
        if missing:
            raise ValueError(
                f"the validation at step {step} has no {', '.join(missing)}, which the searcher looks at; it has "
                f"{', '.join(sorted(metrics))}. Return it from compute_metrics, or correct the searcher's config"
            )

    def _set_status(self, status: str) -> None:
        if self._is_chief:
            self._core.train.set_status(status)


def _global_batch_size(args: Any) -> int:
    return int(args.train_batch_size * args.world_size * args.gradient_accumulation_steps)


def _leave_silently(control: Any) -> Any:
    control.should_log = control.should_evaluate = control.should_save = False
    control.should_training_stop = True
    return control


def _is_whole(epoch: float) -> bool:
    return math.isclose(epoch, round(epoch), abs_tol=1e-9)


def _epoch_length(state: Any) -> int | None:
    """In steps; known at the end of an epoch, which accumulated gradients may cut into uneven steps."""
    epochs = round(state.epoch)
    return state.global_step // epochs if epochs and _is_whole(state.epoch) else None


def _evaluation_at(state: Any) -> dict[str, Any]:
    """Of the step a Trainer resumes from."""
    entries = [entry for entry in state.log_history if entry.get("step") == state.global_step]
    return {name: value for entry in entries for name, value in entry.items() if name.startswith("eval_")}
