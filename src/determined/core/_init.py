"""core.init: decides where the script runs and builds the contexts for it. The composition root of this package."""

import sys
from pathlib import Path

from determined import storage
from determined._info import ClusterInfo, get_cluster_info, trial_of
from determined._json import JsonObject
from determined.core import _environment, _stack_dump
from determined.core._checkpoint import CheckpointContext
from determined.core._context import Context, Delivery
from determined.core._distributed import DistributedContext
from determined.core._experimental import ExperimentalCoreContext
from determined.core._master import Master
from determined.core._metrics import MetricsContext
from determined.core._modes import PreemptMode, TensorboardMode
from determined.core._offcluster import DummyCheckpointContext, DummyDistributedContext, DummyPreemptContext
from determined.core._preempt import PreemptContext
from determined.core._profiler import ProfilerContext
from determined.core._reporter import Reporter
from determined.core._searcher import SearcherContext, SearcherContextMissing, is_classic
from determined.core._train import TrainContext
from determined.rundir.event_files import Destination, Ledger
from determined.rundir.layout import RunDir
from determined.rundir.private_tmp import is_in_private_tmp
from determined.storage import registry
from determined.storage.factory import build_stored
from determined.storage.shared_fs.manager import SharedFSStorageManager
from determined.tensorboard import MetricEvents, TensorboardManager, claim_directory, event_prefix

Storage = str | JsonObject | None


def init(
    *,
    distributed: DistributedContext | None = None,
    checkpoint_storage: Storage = None,
    preempt_mode: PreemptMode = PreemptMode.WorkersAskChief,
    tensorboard_mode: TensorboardMode = TensorboardMode.AUTO,
    storage_manager: storage.StorageManager | None = None,
) -> Context:
    """A Core API context for this process, on a cluster or off it.

    Args:
        distributed: who this process is among its peers; needed in a task with more than one slot.
        checkpoint_storage: where checkpoints go instead of the experiment's own storage: a path, `file://`, `s3://` or
            `gs://` address, or a dict like the config section (not of type shared_fs).
        preempt_mode: who asks whether to leave.
        tensorboard_mode: AUTO writes reported metrics as TensorBoard events.
        storage_manager: what older scripts passed in place of `checkpoint_storage`.

    Returns:
        A context for a `with` block.

    Raises:
        ValueError: a task with several slots and no `distributed`, or a storage that makes no sense.
        TypeError: a `checkpoint_storage` of another type.

    Example:
        >>> with core.init() as core_context:
        ...     core_context.train.report_training_metrics(1, {"loss": 0.1})
    """
    info = get_cluster_info()
    _stack_dump.install()
    if info is None:
        return _off_cluster(distributed, checkpoint_storage, preempt_mode, storage_manager)
    if distributed is None and _needs_distributed(info):
        raise ValueError(
            f"this task has {len(info.container_addrs)} container(s) and {len(info.slot_ids)} slots; "
            "pass core.init(distributed=...), e.g. core.DistributedContext.from_torch_distributed()"
        )
    dist = distributed or DummyDistributedContext()
    if trial_of(info) is None:
        files = DummyCheckpointContext(dist, storage_manager or _chosen_storage(checkpoint_storage) or _home_storage())
        return Context(
            files,
            distributed=dist,
            preempt=DummyPreemptContext(dist, preempt_mode),
            searcher=SearcherContextMissing(),
            info=info,
            _master=Master(info),
        )
    return TrialParts(info, dist, storage_manager, checkpoint_storage).context(preempt_mode, tensorboard_mode)


class TrialParts:
    """The real contexts of a trial, around one journal and one (lazy) conversation with the master.

    `run_dir`, `master`: of a trial outside of the cluster; a task finds its own.
    """

    def __init__(
        self,
        info: ClusterInfo,
        dist: DistributedContext,
        manager: storage.StorageManager | None,
        checkpoint_storage: Storage,
        *,
        run_dir: RunDir | None = None,
        master: Master | None = None,
    ) -> None:
        self._info = info
        self._trial = info.trial
        self._dist = dist
        self._run_dir = run_dir or RunDir(_environment.run_dir())
        self._reporter = Reporter(self._run_dir, dist.rank)
        dist._beat = self._reporter.pulse.beat
        _stack_dump.install_on_demand(self._reporter.pulse.stacks)
        self._master = master or Master(info)
        if checkpoint_storage is None and manager is None and info._is_unmanaged:
            checkpoint_storage = self._trial._config.get("checkpoint_storage")
        self._chosen = checkpoint_storage
        self._storage = manager or self._chosen_storage(checkpoint_storage) or self._configured_storage()
        self._refuse_lost_places()
        self._is_given = manager is not None
        own = manager.as_section() if manager is not None else checkpoint_storage
        self._storage_id = self._register(own) if own is not None and dist.rank == 0 else None

    def context(
        self, preempt_mode: PreemptMode, tensorboard_mode: TensorboardMode, delivery: Delivery | None = None
    ) -> Context:
        tensorboard = self._tensorboard(tensorboard_mode)
        is_auto = tensorboard_mode is TensorboardMode.AUTO and self._dist.rank == 0
        events = MetricEvents(tensorboard) if is_auto else None
        metrics = MetricsContext(self._reporter, events)
        train = TrainContext(
            reporter=self._reporter,
            master=self._master,
            metrics=metrics,
            distributed=self._dist,
            trial_id=self._trial.trial_id,
            experiment_id=self._trial.experiment_id,
            tensorboard_mode=tensorboard_mode,
            tensorboard_manager=tensorboard,
        )
        checkpoints = self._checkpoints(events)
        return Context(
            checkpoints,
            distributed=self._dist,
            preempt=PreemptContext(self._reporter, self._dist, preempt_mode),
            train=train,
            searcher=self._searcher(checkpoints),
            info=self._info,
            experimental=ExperimentalCoreContext(self._master, self._trial.trial_id),
            profiler=ProfilerContext(self._info.agent_id, metrics, self._dist),
            _reporter=self._reporter,
            _master=self._master,
            _events=events,
            _tensorboard=tensorboard,
            _delivery=delivery,
        )

    def _checkpoints(self, events: MetricEvents | None) -> CheckpointContext:
        return CheckpointContext(
            dist=self._dist,
            storage_manager=self._storage,
            reporter=self._reporter,
            master=self._master,
            storage_id=self._storage_id,
            before_report=events.sync_soon if events else lambda: None,
        )

    def _searcher(self, checkpoints: CheckpointContext) -> SearcherContext | SearcherContextMissing:
        searcher = self._trial._config.get("searcher") or {}
        is_driven = is_classic(searcher) and not self._info._is_unmanaged
        if searcher.get("max_length") is None and not is_driven:
            return SearcherContextMissing()
        return SearcherContext(
            reporter=self._reporter,
            master=self._master,
            dist=self._dist,
            trial_id=self._trial.trial_id,
            searcher=searcher,
            is_driven=is_driven,
            before_end=checkpoints._wait,
        )

    def _tensorboard(self, mode: TensorboardMode) -> TensorboardManager:
        prefix = event_prefix(self._info.cluster_id, self._trial.experiment_id, self._trial.trial_id)
        directory = claim_directory(self._run_dir.path, self._dist.rank)
        is_manual = mode is TensorboardMode.MANUAL
        ledger = None if is_manual or self._dist.rank else self._ledger(directory, prefix)
        return TensorboardManager(directory, self._storage, prefix, async_upload=is_manual, ledger=ledger)

    def _ledger(self, directory: Path, prefix: str) -> Ledger | None:
        """Make the ledger by which the runner copies what a killed process could not; None where only we know the
        storage."""
        if self._is_given:
            return None
        section, mount = self._trial._config.get("checkpoint_storage"), _environment.shared_fs_mount()
        if self._chosen is not None:
            section, mount = storage.as_config(self._chosen), None
        elif not section:
            from determined.storage.directory.config import section_at

            section = section_at(str(_environment.user_data_dir()))
        return Ledger(directory, Destination(section, mount, prefix, sys.executable, _environment.working_directory()))

    def _chosen_storage(self, given: Storage) -> storage.StorageManager | None:
        """Build the storage of the script's own choice: by a path that the next run and the master can look up as
        well."""
        if isinstance(given, str):
            given = storage.as_config(given)
        if self._info._is_unmanaged and isinstance(given, dict):
            return storage.build(given, None)  # also shared_fs: nothing is mounted elsewhere here
        return _chosen_storage(given)

    def _refuse_lost_places(self) -> None:
        """Raise ValueError for a storage that goes with this task. The runner mounts the experiment's own through."""
        self._storage.refuse_inside(str(self._run_dir.path))
        section = self._storage.as_section()
        if section is not None and is_in_private_tmp(self._run_dir, section["container_path"]):
            raise ValueError(
                f"checkpoint storage {section['container_path']} is in the /tmp of this task alone, which is deleted "
                "when the task ends; name another directory, or set checkpoint_storage in the experiment's config"
            )

    def _configured_storage(self) -> storage.StorageManager:
        config = self._trial._config.get("checkpoint_storage")
        if not config:
            return _home_storage()
        return build_stored(config, _environment.shared_fs_mount())

    def _register(self, checkpoint_storage: Storage) -> int | None:
        """Register a storage of the script's own with the master, which knows the experiment's."""
        from determined.wire.run import PREPARE_FOR_REPORTING, RunPrepareForReportingRequest

        own = storage.as_config(checkpoint_storage or {})
        request = RunPrepareForReportingRequest(run_id=self._trial.trial_id, checkpoint_storage=own)
        return self._master.insist(lambda s: s.call(PREPARE_FOR_REPORTING, request), "core.init").storage_id


def _off_cluster(
    distributed: DistributedContext | None,
    checkpoint_storage: Storage,
    preempt_mode: PreemptMode,
    manager: storage.StorageManager | None,
) -> Context:
    dist = distributed or DummyDistributedContext()
    files = DummyCheckpointContext(dist, manager or _chosen_storage(checkpoint_storage) or _home_storage())
    return Context(files, distributed=dist, preempt=DummyPreemptContext(dist, preempt_mode))


def _needs_distributed(info: ClusterInfo) -> bool:
    return len(info.container_addrs) > 1 or len(info.slot_ids) > 1


def _chosen_storage(given: Storage) -> storage.StorageManager | None:
    if given is None:
        return None
    if isinstance(given, str):
        return storage.from_string(given)
    if not isinstance(given, dict):
        raise TypeError(f"checkpoint_storage is a {type(given).__name__}; pass a str or a dict")
    if registry.section(given.get("type")).is_mounted:
        kind = given["type"]
        raise ValueError(f"checkpoint_storage of type {kind} cannot be chosen here; use type directory or a path")
    return storage.build(given, None)


def _home_storage() -> storage.StorageManager:
    home = _environment.user_data_dir()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)  # a store makes its base for everybody; a home is private
    return SharedFSStorageManager(str(home))
