"""TrainContext: what a training script tells about itself, and what it asks about its experiment."""

import logging
from collections.abc import Callable
from pathlib import Path

from determined._json import JsonObject
from determined.core._distributed import DistributedContext
from determined.core._master import Master
from determined.core._metrics import VALIDATION, MetricsContext
from determined.core._modes import EarlyExitReason, TensorboardMode
from determined.core._reporter import Reporter
from determined.errors import NotFound
from determined.tensorboard import TensorboardManager
from determined.wire.report import EarlyExit, Progress, Status

logger = logging.getLogger("determined.core")


class TrainContext:
    """Reports of a trial. Reporting appends to a journal and returns: it does not wait for the master."""

    def __init__(
        self,
        *,
        reporter: Reporter,
        master: Master,
        metrics: MetricsContext,
        distributed: DistributedContext,
        trial_id: int,
        experiment_id: int,
        tensorboard_mode: TensorboardMode,
        tensorboard_manager: TensorboardManager | None,
    ) -> None:
        self._reporter = reporter
        self._master = master
        self._metrics = metrics
        self._distributed = distributed
        self._trial_id = trial_id
        self._experiment_id = experiment_id
        self._tensorboard_mode = tensorboard_mode
        self._tensorboard_manager = tensorboard_manager

    def set_status(self, status: str) -> None:
        """Say in a word what the trial does, e.g. "training"."""
        self._reporter.report(Status(status))

    def report_training_metrics(
        self,
        steps_completed: int,
        metrics: JsonObject,
        batch_metrics: list[JsonObject] | None = None,
    ) -> None:
        """Report metrics of group "training"; `batch_metrics` are kept per batch and not charted."""
        self._metrics.report("training", steps_completed, metrics, batch_metrics)

    def report_validation_metrics(self, steps_completed: int, metrics: JsonObject) -> None:
        """Report metrics of group "validation".

        Raises:
            RuntimeError: a value is None.
        """
        self._metrics.report(VALIDATION, steps_completed, metrics)

    def report_metrics(self, group: str, steps_completed: int, metrics: JsonObject) -> None:
        """Report metrics of any group.

        Args:
            group: a name without `.`.
            steps_completed: how far training has come.
            metrics: names to numbers, text, lists, dicts, tensors or arrays. One group and step may be reported in
                parts, each name once.

        Raises:
            ValueError: a group that is not allowed.
            TypeError: a value nobody can report.

        Example:
            >>> core_context.train.report_metrics("inference", 100, {"accuracy": 0.9})
        """
        self._metrics.report(group, steps_completed, metrics)

    def set_metadata(self, metadata: JsonObject) -> JsonObject | None:
        """Replace the run's metadata; what is stored now."""
        from determined.wire.run import POST_RUN_METADATA, PostRunMetadataRequest

        run_id, request = self._trial_id, PostRunMetadataRequest(metadata=metadata)
        answer = self._master.insist(lambda s: s.call(POST_RUN_METADATA, request, run_id=run_id), "set_metadata")
        return answer.metadata

    def get_metadata(self) -> JsonObject | None:
        from determined.wire.run import GET_RUN_METADATA

        run_id = self._trial_id
        return self._master.insist(lambda s: s.call(GET_RUN_METADATA, run_id=run_id), "get_metadata").metadata

    def report_progress(self, progress: float) -> None:
        """Report how much of the training is done, 0 to 1. Raises ValueError outside of that."""
        self._reporter.report(Progress(checked_progress(progress)))

    def report_early_exit(self, reason: EarlyExitReason) -> None:
        """Say that the trial ends before its time; exit soon after."""
        if reason is not EarlyExitReason.INVALID_HP:
            logger.warning("%s needs no report: a script that exits with status 0 has ended its trial", reason.name)
            return
        self._reporter.report(EarlyExit(reason.value))

    def get_experiment_best_validation(self) -> float | None:
        """The best searcher metric of the whole experiment so far, None before the first."""
        from determined.wire.experiment import GET_BEST_SEARCHER_METRIC

        what, settled, own = "get_experiment_best_validation", self._reporter.settle, self._experiment_id
        try:
            answer = self._master.insist(
                lambda s: s.call(GET_BEST_SEARCHER_METRIC, experiment_id=own), what, after=settled
            )
        except NotFound:
            return None
        return answer.metric

    def get_tensorboard_path(self) -> Path:
        """Return where to write event files. Raises ValueError when there is no storage for them."""
        return self._manager().base_path

    def upload_tensorboard_files(
        self,
        selector: Callable[[Path], bool] = lambda _path: True,
        mangler: Callable[[Path, int], Path] = lambda path, _rank: path,
    ) -> None:
        """Copy event files to the store. Raises RuntimeError unless the mode is MANUAL."""
        if self._tensorboard_mode is not TensorboardMode.MANUAL:
            raise RuntimeError("upload_tensorboard_files needs core.init(tensorboard_mode=TensorboardMode.MANUAL)")
        self._manager().sync(selector, mangler, self._distributed.rank)

    def _get_last_validation(self) -> int | None:
        from determined.wire.trial import GET_TRIAL

        path, settled = GET_TRIAL.at(trial_id=self._trial_id), self._reporter.settle
        answer = self._master.insist(lambda s: s.get(path), "_get_last_validation", after=settled)
        latest = answer["trial"].get("latestValidation")  # of all that a trial has, only this is needed
        return None if latest is None else int(latest["totalBatches"])

    def _manager(self) -> TensorboardManager:
        if self._tensorboard_manager is None:
            raise ValueError("this context has no TensorBoard storage; give core.init a checkpoint_storage")
        return self._tensorboard_manager


def checked_progress(progress: float) -> float:
    value = float(progress)
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"progress={progress!r} is not between 0 and 1; report the fraction that is done")
    return value
