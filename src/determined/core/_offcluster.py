"""Twins of every context for a script that runs off cluster: the same calls and checks, logged instead of reported."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from determined._json import JsonObject
from determined.core._checkpoint import CheckpointContext
from determined.core._checkpoint_background import BackgroundSaves
from determined.core._checkpoint_files import CheckpointFiles, read_metadata
from determined.core._distributed import DistributedContext
from determined.core._metrics import VALIDATION, checked_group, plain_metrics
from determined.core._modes import EarlyExitReason, PreemptMode, SearcherMode, Unit
from determined.core._operation import TrainOperation
from determined.core._preempt import PreemptContext
from determined.core._profiler import check_sampling
from determined.storage import StorageManager

logger = logging.getLogger("determined.core")


class DummyDistributedContext(DistributedContext):
    """Distributed context of a single process."""

    def __init__(self) -> None:
        super().__init__(rank=0, size=1, local_rank=0, local_size=1, cross_rank=0, cross_size=1)


class DummyTrainContext:
    """Logs what would be reported."""

    def __init__(self, tensorboard_path: Path | None = None) -> None:
        self._tensorboard_path = tensorboard_path
        self._metadata: JsonObject | None = None

    def set_status(self, status: str) -> None:
        logger.info("status: %s", status)

    def report_training_metrics(
        self,
        steps_completed: int,
        metrics: JsonObject,
        batch_metrics: list[JsonObject] | None = None,
    ) -> None:
        for batch in batch_metrics or []:
            plain_metrics("training", batch)
        self.report_metrics("training", steps_completed, metrics)

    def report_validation_metrics(self, steps_completed: int, metrics: JsonObject) -> None:
        self.report_metrics(VALIDATION, steps_completed, metrics)

    def report_metrics(self, group: str, steps_completed: int, metrics: JsonObject) -> None:
        plain = plain_metrics(checked_group(group), metrics)
        logger.info("%s metrics at steps_completed=%s: %s", group, steps_completed, plain)

    def set_metadata(self, metadata: JsonObject) -> JsonObject | None:
        self._metadata = dict(metadata)
        return self._metadata

    def get_metadata(self) -> JsonObject | None:
        return self._metadata

    def report_progress(self, progress: float) -> None:
        from determined.core._train import checked_progress

        logger.info("progress: %s", checked_progress(progress))

    def report_early_exit(self, reason: EarlyExitReason) -> None:
        logger.info("early exit: %s", reason.name)

    def get_experiment_best_validation(self) -> float | None:
        return None

    def get_tensorboard_path(self) -> Path | None:
        return self._tensorboard_path

    def upload_tensorboard_files(
        self,
        selector: Callable[[Path], bool] = lambda _path: True,
        mangler: Callable[[Path, int], Path] = lambda path, _rank: path,
    ) -> None:
        logger.info("TensorBoard files stay where they are off cluster")

    def _get_last_validation(self) -> int | None:
        return None


class DummyCheckpointContext(CheckpointContext):
    """Stores checkpoints for real; reports nothing and asks for no `steps_completed`."""

    def __init__(self, dist: DistributedContext, storage_manager: StorageManager) -> None:
        self._dist = dist
        self._storage_manager = storage_manager
        self._files = CheckpointFiles(dist, storage_manager)
        self._background = BackgroundSaves()
        self._background_dist = None

    def get_metadata(self, storage_id: str) -> JsonObject:
        self._wait()
        return read_metadata(self._storage_manager, storage_id)

    def delete(self, storage_id: str) -> None:
        self._wait()
        self._storage_manager.delete(storage_id, ["**/*"])

    def _report(self, storage_id: str, resources: dict[str, int], metadata: JsonObject) -> None:
        logger.info("saved checkpoint %s (%s files)", storage_id, len(resources))

    def _check(self, metadata: JsonObject) -> None:
        return

    def _note_uploaded(self, directory: Path | None) -> None:
        return


class DummyPreemptContext(PreemptContext):
    """Preemption off cluster: it never wants anybody to leave; the ranks still agree on it."""

    def __init__(self, dist: DistributedContext, preempt_mode: PreemptMode = PreemptMode.WorkersAskChief) -> None:
        super().__init__(None, dist, preempt_mode)


class DummySearcherOperation(TrainOperation):
    """Train for `length`, then report; both are logged."""

    def report_progress(self, length: float) -> None:
        self._only_chief("report_progress")
        logger.info("progress: %s of %s", length, self._length)

    def report_completed(self, searcher_metric: object) -> None:
        self._complete()
        logger.info("searcher metric after %s: %s", self._length, searcher_metric)


class DummySearcherContext:
    """Searcher off cluster: a single operation of `length` epochs."""

    def __init__(self, dist: DistributedContext, length: int = 1) -> None:
        self._dist = dist
        self._length = length

    def operations(
        self, searcher_mode: SearcherMode = SearcherMode.WorkersAskChief, auto_ack: bool = True
    ) -> Iterator[DummySearcherOperation]:
        is_chief = self._dist.rank == 0
        if SearcherMode(searcher_mode) is SearcherMode.ChiefOnly and not is_chief:
            raise RuntimeError(f"rank {self._dist.rank} iterates over operations in ChiefOnly mode; do so on rank 0")
        return self._operations(is_chief)

    def acknowledge_out_of_ops(self) -> None:
        return

    def get_configured_units(self) -> Unit | None:
        return Unit.EPOCHS

    def _operations(self, is_chief: bool) -> Iterator[DummySearcherOperation]:
        operation = DummySearcherOperation(self._length, is_chief)
        yield operation
        if is_chief and not operation._completed:
            raise RuntimeError("call op.report_completed() before going on to the next operation")


class DummyProfilerContext:
    """Checks its arguments and measures nothing."""

    def on(self, sampling_interval: float = 1, samples_per_report: int = 10) -> None:
        check_sampling(sampling_interval, samples_per_report)

    def off(self) -> None:
        return

    def _close(self) -> None:
        return


class DummyExperimentalCoreContext:
    """Links nothing."""

    def report_task_using_checkpoint(self, checkpoint: object) -> None:
        return

    def report_task_using_model_version(self, model_version: object) -> None:
        return
