"""Event files for whoever asks by name: where they are written, where they are stored, who copies them."""

import tempfile
from functools import cache
from pathlib import Path

from determined import storage
from determined._info import get_cluster_info, run_directory
from determined._json import JsonObject
from determined.rundir.layout import RunDir
from determined.storage import registry
from determined.tensorboard.manager import TensorboardManager, event_prefix


def build(
    cluster_id: str,
    experiment_id: int | str,
    trial_id: int | str | None,
    checkpoint_config: JsonObject | str,
    container_path: str | None = None,
    async_upload: bool = True,
    sync_on_close: bool = True,
) -> TensorboardManager:
    """Return who copies a trial's event files into its checkpoint storage. `start` and `close` it.

    Args:
        cluster_id: of the master.
        experiment_id: the experiment.
        trial_id: the trial; None: files of the experiment itself.
        checkpoint_config: the `checkpoint_storage` section, or a path or address.
        container_path: where a container has `host_path` of shared_fs mounted.
        async_upload: whether a thread does it.
        sync_on_close: whether `close` copies what has changed by then.

    Raises:
        TypeError: a storage of another type.

    Example:
        >>> manager = build("cluster", 1, 2, {"type": "directory", "container_path": "/checkpoints"})
        >>> manager.start()
        >>> manager.sync()
        >>> manager.close()
    """
    prefix = get_experiment_sync_path(cluster_id, experiment_id)
    if trial_id is not None:
        prefix = get_sync_path(cluster_id, experiment_id, trial_id)
    return TensorboardManager(
        get_base_path({}),
        _storage(checkpoint_config, container_path),
        prefix.as_posix(),
        async_upload=async_upload,
        sync_on_close=sync_on_close,
    )


def get_base_path(checkpoint_config: JsonObject) -> Path:
    """A directory for event files: in a task, this process's own, which core copies as it grows; else a temporary one.

    Args:
        checkpoint_config: makes no difference; `{}` will do.
    """
    if get_cluster_info() is None:
        return _temporary()
    in_task = run_directory()
    path = _claimed if _claimed is not None and _claimed.is_relative_to(in_task) else RunDir(in_task).event_files(0)
    path.mkdir(parents=True, exist_ok=True)
    return path


def claim_directory(run_dir: Path, rank: int) -> Path:
    """The directory of a rank, which this process is from now on."""
    global _claimed
    _claimed = RunDir(run_dir).event_files(rank)
    return _claimed


def get_sync_path(cluster_id: str, experiment_id: int | str, trial_id: int | str) -> Path:
    """Return where a trial's event files lie in its checkpoint storage."""
    return Path(event_prefix(cluster_id, int(experiment_id), int(trial_id)))


def get_experiment_sync_path(cluster_id: str, experiment_id: int | str) -> Path:
    """Return where the event files of an experiment's trials lie."""
    return get_sync_path(cluster_id, experiment_id, 0).parents[1]


# Known once core.init has learnt this process's rank; code of older trials asks for the path without a context.
_claimed: Path | None = None


@cache
def _temporary() -> Path:
    return Path(tempfile.mkdtemp(prefix="determined-tensorboard-"))


def _storage(config: JsonObject | str, container_path: str | None) -> storage.StorageManager:
    if isinstance(config, str):
        return storage.from_string(config)
    kind = config.get("type")
    if kind not in registry.kinds():
        known = ", ".join(registry.sections())
        raise TypeError(f"checkpoint_storage of type {kind!r} cannot hold event files; use one of {known}")
    return storage.build(config, container_path)
