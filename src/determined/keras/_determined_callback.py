"""DeterminedCallback: one callback in `model.fit` that reports, saves, resumes, pauses and follows the search."""

import logging
import pickle
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from determined import core
from determined._json import JsonObject
from determined.errors import CheckpointStateException, InvalidExperimentException
from determined.keras import (
    _building,
    _data_position,
    _event_writers,
    _framework,
    _initial_epoch,
    _random_state,
    _weights,
)
from determined.keras._progress_lines import ProgressLines
from determined.trial import FollowedSearch, UserCode, metadata, read_plain, trial_config
from determined.wire.userdata import to_plain

if TYPE_CHECKING:
    from keras import Model

logger = logging.getLogger("determined.keras")

_keras: Any = _framework.load_keras()
_STATE_FILE = "callback_state"


class DeterminedCallback(_keras.callbacks.ProgbarLogger):  # type: ignore[misc]  # takes the place of Keras's own bar
    """Connects `model.fit` with the platform; off cluster it logs what it would report, and saves all the same.

    After each epoch it reports the training metrics and how far training has come, saves a checkpoint if one is due,
    and stops `fit` if the cluster wants the slots back. Validation metrics are reported as Keras names them in `fit`:
    `val_loss` and so on.

    Args:
        core_context: from `core.init`.
        checkpoint: where to begin, `info.latest_checkpoint` on a cluster; None at the beginning.
        continue_id: whose training this is, such as `info.trial.trial_id`. A checkpoint with the same id is gone on
            from, at the epoch after its last; of another one's only the weights are loaded.
        train_metrics_report_period: "epoch", or every so many batches.
        checkpoint_epochs: save after every so many epochs; 0: only at the end, and when the trial is paused.

    Raises:
        ValueError: a period below 1, or a negative number of epochs.

    Example:
        >>> with det.core.init() as core_context:
        ...     info = det.get_cluster_info()
        ...     callback = det.keras.DeterminedCallback(
        ...         core_context, checkpoint=info.latest_checkpoint, continue_id=info.trial.trial_id)
        ...     model.fit(x, y, validation_data=(val_x, val_y), epochs=10, callbacks=[callback])
    """

    def __init__(
        self,
        core_context: core.Context,
        checkpoint: str | None,
        continue_id: object,
        *,
        train_metrics_report_period: str | int = "epoch",
        checkpoint_epochs: int = 1,
    ) -> None:
        super().__init__()
        self._core = core_context
        self._is_chief = core_context.distributed.rank == 0
        self._checkpoint = checkpoint
        self._continue_id = continue_id
        self._period = _checked_period(train_metrics_report_period)
        self._checkpoint_epochs = _checked_epochs(checkpoint_epochs)
        self._code = UserCode(core_context)
        self._search = FollowedSearch(core_context, self._global_batch_size)
        self._metric = str((trial_config(core_context).get("searcher") or {}).get("metric") or "")
        self._epochs = self._steps = self._epoch_began = 0
        self._saved_at: int | None = None
        self._validated_at: int | None = None
        self._validation: JsonObject = {}
        self._in_fit = self._is_in_epoch = False
        self._tensorboards: list[object] = []
        self._lines = ProgressLines("", None, is_shown=False)

    def save_model(self, model: "Model", path: str, distributed: core.DistributedContext) -> None:
        """Save weights and optimizer into directory `path`. Override it, and `load_model`, for a format of your own.

        It is called on every rank; what ranks other than the chief write is thrown away.
        """
        _weights.save_weights(_keras, model, Path(path))

    def load_model(self, model: "Model", path: str, distributed: core.DistributedContext) -> None:
        """Load what `save_model` saved."""
        _weights.load_weights(_keras, model, Path(path))

    def set_params(self, params: JsonObject | None) -> None:
        self.params = params or {}

    def on_train_begin(self, logs: JsonObject | None = None) -> None:
        self._in_fit = True
        self._tensorboards = _event_writers.tensorboards_of_fit(_keras)
        self._set_status("training")
        # Asked once before the first epoch, which may be long: the cluster then knows that it will be heard.
        self._core.preempt.should_preempt(auto_ack=False)
        self._search.start()
        if self._checkpoint is not None:
            self._restore(self._checkpoint)
            self._checkpoint = None
        if self._steps and self._validated_at == self._steps:
            self._complete()  # what it had not been able to tell before it was killed
        if self._search.is_over:
            _initial_epoch.begin_at(_keras, self.model, int(self.params.get("epochs") or 0))

    def on_train_end(self, logs: JsonObject | None = None) -> None:
        if self._steps and self._saved_at != self._steps:
            self._save()
        if self._search.until is not None and not self.model.stop_training:
            logger.warning(
                "fit has ended after %s epochs, and the searcher asks for %s; give model.fit more epochs",
                self._epochs, self._search.until,
            )  # fmt: skip
        _initial_epoch.forget(_keras, self.model)
        self._in_fit = False

    def on_epoch_begin(self, epoch: int, logs: JsonObject | None = None) -> None:
        self._epochs, self._epoch_began, self._is_in_epoch = epoch, self._steps, True
        self._lines = self._new_lines(f"epoch {epoch + 1}/{self.params.get('epochs')}")

    def on_train_batch_end(self, batch: int, logs: JsonObject | None = None) -> None:
        done = int(batch) + 1
        before, self._steps = self._steps, self._epoch_began + done
        if self._period is not None and self._steps // self._period > before // self._period:
            length = self.params.get("steps")
            self._report_training(logs, self._epochs + (done / length if length else 0))
        self._lines.advance(done, logs or {})

    def on_epoch_end(self, epoch: int, logs: JsonObject | None = None) -> None:
        self._epochs, self._is_in_epoch = epoch + 1, False
        if self._period is None:
            self._report_training(logs, self._epochs)
        self._lines.end(self._steps - self._epoch_began, logs or {})
        self._report_progress()
        is_leaving = self._core.preempt.should_preempt()
        is_due = self._search.is_due(self._steps, self._epoch_length)
        if is_leaving or is_due or self._is_save_due():
            self._save()
        if is_due:
            self._complete()
        if is_leaving or self._search.is_over:
            self.model.stop_training = True

    def on_test_begin(self, logs: JsonObject | None = None) -> None:
        if self._in_fit:
            self._set_status("validating")
        else:
            self._lines = self._new_lines("validation")

    def on_test_batch_end(self, batch: int, logs: JsonObject | None = None) -> None:
        if not self._in_fit:
            self._lines.advance(int(batch) + 1, logs or {})

    def on_test_end(self, logs: JsonObject | None = None) -> None:
        self._report_validation(logs)
        if self._in_fit:
            self._set_status("training")

    def on_predict_begin(self, logs: JsonObject | None = None) -> None:
        self._lines = self._new_lines("prediction")

    def on_predict_batch_end(self, batch: int, logs: JsonObject | None = None) -> None:
        self._lines.advance(int(batch) + 1, {})

    def on_predict_end(self, logs: JsonObject | None = None) -> None:
        return

    def _implements_train_batch_hooks(self) -> bool:  # asked by Keras 2, which else leaves them out of some runs
        return True

    _implements_test_batch_hooks = _implements_predict_batch_hooks = _implements_train_batch_hooks

    @property
    def _epoch_length(self) -> Fraction | None:
        return Fraction(self._steps, self._epochs) if self._epochs else None

    def _new_lines(self, name: str) -> ProgressLines:
        verbose = self.params.get("verbose", 1)
        total = None if verbose == 2 else self.params.get("steps")  # Keras's word for one line an epoch
        return ProgressLines(name, total, is_shown=bool(verbose) and self._is_chief)

    def _set_status(self, status: str) -> None:
        if self._is_chief:
            self._core.train.set_status(status)

    def _report_training(self, logs: JsonObject | None, epochs: float) -> None:
        if self._is_chief:
            metrics = {name: value for name, value in _plain(logs).items() if not name.startswith("val_")}
            position = {"batches": self._steps, "epochs": epochs}
            self._core.train.report_training_metrics(self._steps, position | metrics)

    def _report_validation(self, logs: JsonObject | None) -> None:
        if self._validated_at == self._steps:
            logger.warning("batch %s is validated a second time; only the first validation is reported", self._steps)
            return
        plain = _plain(logs)
        metrics = {name if name.startswith("val_") else f"val_{name}": value for name, value in plain.items()}
        if self._metric in plain:
            metrics[self._metric] = plain[self._metric]
        self._validated_at, self._validation = self._steps, metrics
        if self._is_chief:
            position = {"batches": self._steps, "epochs": self._epochs + self._is_in_epoch}
            self._core.train.report_validation_metrics(self._steps, position | metrics)

    def _report_progress(self) -> None:
        total = int(self.params.get("epochs") or 0)
        if self._search.is_classic:
            self._search.report_progress(self._steps, self._epoch_length)
        elif total and self._is_chief:
            self._core.train.report_progress(min(self._epochs / total, 1.0))

    def _complete(self) -> None:
        """Tell the searcher how good the model is; after it is saved, or a trial that is killed now would have ended
        without a checkpoint."""
        if not self._search.is_due(self._steps, self._epoch_length):
            return
        if self._validated_at != self._steps:
            raise InvalidExperimentException(
                f"the searcher wants {self._metric!r} after {self._steps} batches, and nothing was validated; give "
                "model.fit(validation_data=...), with validation_freq=1"
            )
        self._search.complete(self._validation, self._steps, self._epoch_length)

    def _is_save_due(self) -> bool:
        return self._checkpoint_epochs > 0 and self._epochs % self._checkpoint_epochs == 0

    def _save(self) -> None:
        self._set_status("checkpointing")
        _building.build_uncallable(_keras, self.model)
        distributed = self._core.distributed
        with self._core.checkpoint.store_path(self._metadata(), shard=True) as (path, _):
            if self._is_chief:
                self.save_model(self.model, str(path), distributed)
                (path / _STATE_FILE).write_bytes(pickle.dumps(self._state()))
                self._code.write(path)
            else:  # saving is an act of all workers in some strategies; what the chief saves is the whole
                with tempfile.TemporaryDirectory() as unwanted:
                    self.save_model(self.model, unwanted, distributed)
            _event_writers.flush(self._tensorboards)
        self._saved_at = self._steps
        self._set_status("training")

    def _metadata(self) -> JsonObject:
        framework = f"keras-{_framework.version(_keras)}-{_framework.backend(_keras)}"
        return metadata(self._steps, framework, "h5" if _framework.is_keras_3(_keras) else "tensorflow")

    def _state(self) -> JsonObject:
        return {
            "continue_id": str(self._continue_id),
            "epoch": self._epochs,
            "steps_completed": self._steps,
            "validated_at": self._validated_at,
            "validation": self._validation,
            "random": _random_state.random_state(_keras, self.model),
            "weights": _building.count_weights(_keras, self.model),
        }

    def _restore(self, checkpoint: str) -> None:
        with self._core.checkpoint.restore_path(checkpoint) as path:
            state = _read_state(path, checkpoint)
            self._build(state)
            if str(state.get("continue_id")) != str(self._continue_id):
                logger.info("the weights of checkpoint %s are loaded; training begins at its first epoch", checkpoint)
                with _weights.keeping_optimizer(self.model):
                    self.load_model(self.model, str(path), self._core.distributed)
                return
            self.load_model(self.model, str(path), self._core.distributed)
        self._go_on_from(state)

    def _build(self, state: JsonObject) -> None:
        try:
            _building.build_from_data(_keras, self.model, state.get("weights"))
        except CheckpointStateException:
            if type(self).load_model is DeterminedCallback.load_model:  # one of the user's may build by itself
                raise

    def _go_on_from(self, state: JsonObject) -> None:
        self._epochs = int(state.get("epoch") or 0)
        self._steps = self._saved_at = int(state.get("steps_completed") or 0)
        self._validated_at, self._validation = state.get("validated_at"), state.get("validation") or {}
        _initial_epoch.begin_at(_keras, self.model, self._epochs)
        _data_position.pass_over(self._epochs, self._steps)
        _random_state.restore_random_state(state.get("random") or {}, self.model)
        logger.info("training goes on after epoch %s, batch %s", self._epochs, self._steps)

    def _global_batch_size(self) -> int:
        info = self._core.info
        size = None if info is None else info.trial.hparams.get("global_batch_size")
        if not isinstance(size, int):
            raise InvalidExperimentException(
                "searcher.max_length counts records; add the hyperparameter global_batch_size, or count epochs"
            )
        return size


def _read_state(directory: Path, checkpoint: str) -> JsonObject:
    file = directory / _STATE_FILE
    if not file.is_file():
        raise CheckpointStateException(
            f"checkpoint {checkpoint} has no {_STATE_FILE}: it was not saved by keras.DeterminedCallback; load it by "
            "your own code before fit, and pass checkpoint=None"
        )
    return dict(read_plain(file))


def _checked_period(period: object) -> int | None:
    """Return a period in batches; None: at the end of an epoch."""
    if period == "epoch":
        return None
    if not isinstance(period, int) or isinstance(period, bool) or period < 1:
        raise ValueError(f'train_metrics_report_period={period!r}; give "epoch" or a number of batches, 1 or more')
    return period


def _checked_epochs(epochs: object) -> int:
    if not isinstance(epochs, int) or isinstance(epochs, bool) or epochs < 0:
        raise ValueError(f"checkpoint_epochs={epochs!r}; give a number of epochs, 0 for the end alone")
    return epochs


def _plain(logs: JsonObject | None) -> JsonObject:
    return {str(name): to_plain(value) for name, value in (logs or {}).items()}
