"""DetCallback: one callback in a `transformers.Trainer` that reports, saves, resumes, pauses and follows the search."""

import json
import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING

from transformers import TrainerCallback

from determined import core
from determined._json import JsonObject
from determined.transformers import _checkpoints, _lengths, _logs
from determined.transformers._reports import Reports
from determined.trial import Batch, FollowedSearch, Goal, trial_config

if TYPE_CHECKING:
    from torch.optim import Optimizer
    from transformers import TrainerControl, TrainerState, TrainingArguments

logger = logging.getLogger("determined.transformers")


class DetCallback(TrainerCallback):  # type: ignore[misc]
    """Connects a Trainer with the platform. Add it to the Trainer of every rank, after callbacks that may stop it.

    What the Trainer logs is reported; what it saves is stored; a trial that is paused saves where it is and goes on
    there, batch for batch. At the end of the training, and where the searcher wants to know, it validates and saves
    whatever the Trainer's own strategies say; with `eval_strategy` "no" it only saves.

    Args:
        core_context: from `core.init`, with `distributed` if there are several ranks.
        args: the Trainer's arguments. If this trial has a checkpoint it is fetched into `args.output_dir`, and
            `args.resume_from_checkpoint` is where `trainer.train` goes on.
        filter_metrics: report only metrics whose names contain one of these; the searcher's are always reported.
        user_data: JSON data kept as `my_data.json` in each checkpoint.

    Raises:
        RuntimeError: this process is no trial on a cluster.
        TypeError: `user_data` is no JSON.
        ValueError: the script trains for another length than the searcher's config says, or would not validate where
            the searcher's operations end; or the trial's checkpoint is not what a Trainer saves.

    Example:
        >>> callback = DetCallback(core_context, args)
        >>> trainer = Trainer(model, args, train_dataset=data, eval_dataset=held_out, callbacks=[callback])
        >>> trainer.train(resume_from_checkpoint=args.resume_from_checkpoint)
    """

    def __init__(
        self,
        core_context: core.Context,
        args: "TrainingArguments",
        filter_metrics: list[str] | None = None,
        user_data: JsonObject | None = None,
    ) -> None:
        config = trial_config(core_context)
        if not config or core_context.info is None:
            raise RuntimeError(
                "DetCallback needs a trial on a cluster; submit this script with det experiment create, or leave the "
                "callback out where det.get_cluster_info() is None"
            )
        _check_data(user_data)
        self.core_context = self._core = core_context  # the public names are upstream's: subclasses use them
        self.info = core_context.info
        self._is_chief = core_context.distributed.rank == 0
        self._trial_id = core_context.info.trial.trial_id
        self.filter_metrics = self._wanted = filter_metrics
        self.user_data = self._user_data = user_data
        searcher = config.get("searcher") or {}
        self.searcher_metric, self.time_metric = searcher.get("metric"), searcher.get("time_metric")
        self._needed = [*Goal.of(searcher).names, *filter(None, [searcher.get("time_metric")])]
        self._reports = Reports(core_context, self._needed)
        self._search = FollowedSearch(core_context, lambda: _global_batch_size(args))
        self._percent = self._saved_at = -1
        self._begun_at: int | None = None
        self._over_at: tuple[int, float] = (0, 0.0)
        self._strategy: object = None  # the script's, while a save is insisted on
        self._is_training = self._is_leaving = self._is_save_put_off = False
        _lengths.check_lengths(config, args, _global_batch_size(args))
        _lengths.check_strategies(config, args)
        self._fetched = self._fetch(args, core_context.info.latest_checkpoint)

    def on_train_begin(
        self, args: "TrainingArguments", state: "TrainerState", control: "TrainerControl", **kwargs: object
    ) -> "TrainerControl | None":
        self._is_training = True
        self._begun_at = state.global_step
        self._set_status("training")
        # Asked once before the first step, which may be long: the cluster then knows that it will be heard.
        self._core.preempt.should_preempt(auto_ack=False)
        self._search.start()
        if self._fetched is None:
            return control
        state.stateful_callbacks = _checkpoints.CallbackStates(state.stateful_callbacks)
        if state.global_step != self._fetched.step:
            _warn_of_another_place(self._fetched, state.global_step)
        elif state.global_step:
            self._saved_at = state.global_step
            self._reports.remember(state.global_step, _evaluation_at(state))
            self._complete(state, control)  # what it had not been able to tell before it was killed
        return control

    def on_step_begin(
        self, args: "TrainingArguments", state: "TrainerState", control: "TrainerControl", **kwargs: object
    ) -> "TrainerControl | None":
        self._reports.tell_validation()
        self._complete(state, control)
        return control

    def on_pre_optimizer_step(
        self,
        args: "TrainingArguments",
        state: "TrainerState",
        control: "TrainerControl",
        *,
        optimizer: "Optimizer",
        **kwargs: object,
    ) -> "TrainerControl | None":
        """A Trainer that is told to stop before its first step makes it all the same; nothing may be learned then."""
        if self._search.is_over:
            self._over_at = state.global_step, state.epoch
            for group in optimizer.param_groups:
                group["lr"] = 0.0
        return control

    def on_step_end(
        self, args: "TrainingArguments", state: "TrainerState", control: "TrainerControl", **kwargs: object
    ) -> "TrainerControl | None":
        if self._search.is_over:
            state.global_step, state.epoch = self._over_at
            return _leave_silently(control)
        self._report_progress(state)
        if _is_whole(state.epoch) or state.global_step >= state.max_steps:
            # on_epoch_end follows at once, and may validate: saved before, a trial that is killed meanwhile would go on
            # behind its validation.
            self._is_save_put_off, control.should_save = control.should_save, False
            return control
        if isinstance(self._search.until, Batch) and self._search.is_due(state.global_step, None):
            control.should_evaluate = self._lacks_evaluation(args, state)
            self._insist_on_saving(args, control)
        self._is_leaving = self._core.preempt.should_preempt()
        if self._is_leaving:  # logging, too, or what was averaged since the last time would be lost
            self._insist_on_saving(args, control)
            control.should_log = control.should_training_stop = True
        return control

    def on_epoch_end(
        self, args: "TrainingArguments", state: "TrainerState", control: "TrainerControl", **kwargs: object
    ) -> "TrainerControl | None":
        """A Trainer calls it too where an epoch is broken off."""
        if self._search.is_over or self._is_leaving:
            return _leave_silently(control)
        self._reports.tell_validation()
        self._is_leaving = self._core.preempt.should_preempt()
        is_end = state.global_step >= state.max_steps or control.should_training_stop
        is_due = is_end or self._search.is_due(state.global_step, _epoch_length(state))
        if is_due:
            control.should_evaluate = self._lacks_evaluation(args, state)
        if self._saved_at == state.global_step and not control.should_evaluate:
            control.should_save = False
        elif is_due or self._is_leaving or self._is_save_put_off:
            self._insist_on_saving(args, control)
        self._is_save_put_off = False
        if self._is_leaving:
            control.should_log = control.should_training_stop = True
        return control

    def on_evaluate(
        self, args: "TrainingArguments", state: "TrainerState", control: "TrainerControl", **kwargs: object
    ) -> "TrainerControl | None":
        """Another callback may just have stopped the training; if an epoch is over, nothing else would save its end."""
        if self._is_training and control.should_training_stop and not self._search.is_over:
            self._insist_on_saving(args, control)
        return control

    def on_log(
        self,
        args: "TrainingArguments",
        state: "TrainerState",
        control: "TrainerControl",
        logs: JsonObject | None = None,
        **kwargs: object,
    ) -> "TrainerControl | None":
        logged = dict(logs or {})
        group = _logs.group_of(logged)
        if not self._is_reported(group, logged):
            return control
        position = {"batches": state.global_step, "epochs": state.epoch}
        metrics = position | _logs.chosen(logged, self._wanted, self._needed)
        if group == _logs.VALIDATION:
            self._reports.add_validation(state.global_step, metrics)
            if not self._is_training:  # nothing follows that it could wait for
                self._reports.tell_validation(is_complete=False)
        else:
            self._reports.report(group, state.global_step, metrics)
        return control

    def on_save(
        self, args: "TrainingArguments", state: "TrainerState", control: "TrainerControl", **kwargs: object
    ) -> "TrainerControl | None":
        self._let_go_of_saving(args)
        self._reports.tell_validation()
        self._set_status("checkpointing")
        best = _best_checkpoint(args, state)
        _checkpoints.store(self._core, Path(args.output_dir), state.global_step, self._trial_id, self._user_data, best)
        self._saved_at = state.global_step
        self._set_status("training")
        self._complete(state, control)
        return control

    def on_train_end(
        self, args: "TrainingArguments", state: "TrainerState", control: "TrainerControl", **kwargs: object
    ) -> "TrainerControl | None":
        self._reports.tell_validation()
        self._complete(state, control)
        self._is_training = False
        if state.global_step > max(self._begun_at or 0, self._saved_at) and not self._search.is_over:
            logger.warning(
                "the training was stopped at step %s by a callback that comes after DetCallback, and this step is not "
                "saved; let save_strategy be what eval_strategy is, or make DetCallback the last of them",
                state.global_step,
            )
        return control

    def _fetch(self, args: "TrainingArguments", latest: str | None) -> _checkpoints.Fetched | None:
        if latest is None:
            return None
        if getattr(args, "overwrite_output_dir", False):  # transformers 4 had it
            logger.info("overwrite_output_dir is set: checkpoint %s is not fetched, and training begins anew", latest)
            return None
        fetched = _checkpoints.fetch(self._core, latest, Path(args.output_dir), self._trial_id)
        args.resume_from_checkpoint = str(fetched.directory)
        # Else early stopping would count from nought after each pause.
        args.restore_callback_states_from_checkpoint |= fetched.is_own
        logger.info("training goes on from %s", fetched.directory)
        return fetched

    def _is_reported(self, group: str, logs: JsonObject) -> bool:
        """Return whether a training that nobody interrupts would report it, too, and here."""
        if self._begun_at is None:  # a script that evaluates first has done so when the trial began
            return self._fetched is None or self._fetched.step == 0
        if not self._is_training:
            return not self._is_leaving
        is_summary = group == _logs.TRAINING and _logs.is_summary(logs)
        return not is_summary or not (self._is_leaving or self._search.is_over or self._begun_at)

    def _lacks_evaluation(self, args: "TrainingArguments", state: "TrainerState") -> bool:
        return self._reports.validation[0] != state.global_step and _lengths.name_of(args.eval_strategy) != "no"

    def _insist_on_saving(self, args: "TrainingArguments", control: "TrainerControl") -> None:
        """A Trainer that saves the best alone would take the wish back after an evaluation."""
        control.should_save = True
        if _lengths.name_of(args.save_strategy) == "best":
            self._strategy, args.save_strategy = args.save_strategy, type(args.save_strategy)("steps")

    def _let_go_of_saving(self, args: "TrainingArguments") -> None:
        if self._strategy is not None:
            args.save_strategy, self._strategy = self._strategy, None

    def _complete(self, state: "TrainerState", control: "TrainerControl") -> None:
        """Tell the searcher how good the model is; after it is saved, or a trial that is killed now would have ended
        without a checkpoint."""
        step, metrics = self._reports.validation
        if step == state.global_step and metrics and self._saved_at == step:
            self._search.complete(metrics, step, _epoch_length(state))
        if self._search.is_over:
            control.should_training_stop = True

    def _report_progress(self, state: "TrainerState") -> None:
        percent = 100 * state.global_step // max(state.max_steps, 1)
        if percent == self._percent:
            return
        self._percent = percent
        if self._search.is_classic:
            self._search.report_progress(state.global_step, max(round(state.global_step / state.epoch), 1))
        elif self._is_chief:
            self._core.train.report_progress(min(state.global_step / max(state.max_steps, 1), 1.0))

    def _set_status(self, status: str) -> None:
        if self._is_chief:
            self._core.train.set_status(status)


def _check_data(user_data: object) -> None:
    try:
        json.dumps(user_data)
    except TypeError as err:
        raise TypeError(f"user_data is kept as JSON in each checkpoint: {err}; give it in plain types") from err


def _warn_of_another_place(fetched: _checkpoints.Fetched, step: int) -> None:
    logger.warning(
        "this trial had come to step %s (checkpoint %s), and training begins at step %s; to go on call "
        "trainer.train(resume_from_checkpoint=args.resume_from_checkpoint)",
        fetched.step,
        fetched.storage_id,
        step,
    )


def _best_checkpoint(args: "TrainingArguments", state: "TrainerState") -> str | None:
    """Return the name of the best checkpoint, if the Trainer will look for it at its end."""
    best = state.best_model_checkpoint if args.load_best_model_at_end else None
    return None if best is None else Path(best).name


def _global_batch_size(args: "TrainingArguments") -> int:
    return int(args.train_batch_size * args.world_size * args.gradient_accumulation_steps)


def _leave_silently(control: "TrainerControl") -> "TrainerControl | None":
    control.should_log = control.should_evaluate = control.should_save = False
    control.should_training_stop = True
    return control


def _is_whole(epoch: float) -> bool:
    return math.isclose(epoch, round(epoch), abs_tol=1e-9)


def _epoch_length(state: "TrainerState") -> int | None:
    """Return the steps of an epoch; known at its end, as accumulated gradients may cut it into uneven steps."""
    epochs = round(state.epoch)
    return state.global_step // epochs if epochs and _is_whole(state.epoch) else None


def _evaluation_at(state: "TrainerState") -> JsonObject:
    """Return the evaluation of the step a Trainer resumes from."""
    entries = [entry for entry in state.log_history if entry.get("step") == state.global_step]
    return {name: value for entry in entries for name, value in entry.items() if name.startswith("eval_")}
