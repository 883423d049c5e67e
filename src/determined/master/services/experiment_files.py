"""The files of an experiment as the master itself reaches them, and how far it goes there.

A user chooses where checkpoints lie and says which of the directories there are theirs; the master has rights that
users have not. It touches only directories of the uid as which the experiment's tasks run (its own uid where tasks run
as the master does). In the cluster's own `checkpoint_storage` that is so where tasks run as several users.
"""

import asyncio
import logging
from os.path import normpath
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from determined import storage
from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.config import MasterConfig
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import job as jobs
from determined.master.db.queries import runner as runners
from determined.master.lifecycle.checkpoint_place import Place, place_of, run_roots
from determined.master.lifecycle.identity import can_switch_users, task_uid
from determined.master.services.experiment_layers import master_storage
from determined.master.services.notebook_settings import saved_files_of_users
from determined.master.services.storage_check_threads import check_in_time
from determined.storage import registry
from determined.storage.local import LocalStorageManager

logger = logging.getLogger(__name__)


async def remove_tensorboard(ctx: MasterContext, experiment_id: int, config: dict[str, Any]) -> None:
    """Drop the experiment's TensorBoard files; none there is fine."""
    manager = await open_storage(ctx, experiment_id, config.get("checkpoint_storage"), claimed=False)
    await asyncio.to_thread(manager.remove, f"{tensorboard_of_experiments(ctx.cluster.cluster_id)}/{experiment_id}")


async def open_storage(
    ctx: MasterContext, experiment_id: int, config: dict[str, Any] | None, *, claimed: bool = True
) -> storage.StorageManager:
    """Return the storage of an experiment, or of one of its checkpoints, as the master reaches it.

    `claimed`: what is touched there has a name that a task has said; else one that the master has given.

    Raises:
        FailedPrecondition: there is none that it could reach.
    """
    active = await ctx.db.read(lambda conn: experiments.get(conn, experiment_id).config)
    place = place_of(ctx.config, active, config)
    if place.reason:
        raise FailedPrecondition(place.reason)
    return await manager_of(ctx, experiment_id, place, claimed=claimed)


async def manager_of(
    ctx: MasterContext, experiment_id: int, place: Place, *, claimed: bool = True
) -> storage.StorageManager:
    """Return the storage in a place, for tasks of this experiment alone where others have something there too."""
    manager = await asyncio.to_thread(build, place.section)
    if isinstance(manager, LocalStorageManager):
        uid = await ctx.db.read(lambda conn: _task_uid(conn, ctx.config, experiment_id))
        is_shared = claimed and place.is_here and _shares_with_others(uid)
        if is_shared or not _is_the_clusters(ctx.config, manager):
            manager.only_owned_by(uid)
    return manager


def build(config: dict[str, Any] | None) -> storage.StorageManager:
    """Return a storage without a limit on whose files are touched: only to look. Blocking.

    Raises:
        FailedPrecondition: it cannot be opened.
    """
    try:
        return storage.build(config or {})
    except (ValueError, TypeError) as e:
        raise FailedPrecondition(f"the checkpoint storage cannot be opened: {e}") from e


def prepare_storage(config: MasterConfig, cluster_id: str) -> None:
    """Make what tasks of several users share in the cluster's own storage: the first of them would own it. Blocking."""
    section = master_storage(config)
    if not can_switch_users() or not registry.section(section["type"]).path_key:
        return  # an object store is not even built: a master may serve without its driver
    manager = storage.build(section)
    if not isinstance(manager, LocalStorageManager):
        return
    try:
        manager.share(tensorboard_of_experiments(cluster_id))
        manager.share(saved_files_of_users(cluster_id))
    except OSError as e:
        logger.warning("TensorBoard files and notebooks of other users than the first cannot be stored: %s", e)


def tensorboard_of_experiments(cluster_id: str) -> str:
    """Return where in a storage each experiment has a directory of event files, by its id."""
    return f"{cluster_id}/tensorboard/experiment"


async def require_lasting(ctx: MasterContext, active: dict[str, Any]) -> None:
    """Refuse a storage whose files would be deleted with the task that saves them.

    Raises:
        InvalidArgument: which setting, why, and what to choose.
    """
    place = place_of(ctx.config, active, active["checkpoint_storage"])
    if place.reason:
        raise InvalidArgument(place.reason)
    if place.is_here:
        await asyncio.to_thread(_refuse_run_directories, ctx.config, place.section)


async def unseen_warning(ctx: MasterContext, active: dict[str, Any]) -> list[str]:
    """Return a warning where tasks of other machines save in a directory that the master does not have."""
    place = place_of(ctx.config, active, active["checkpoint_storage"])
    if not place.is_shared or await sees_directory(ctx.config, place.section) is not False:
        return []
    key = registry.section(active["checkpoint_storage"]["type"]).path_key
    return [
        f"checkpoint_storage.{key}: the master has no directory {active['checkpoint_storage'][key]}, so it can neither"
        " check nor serve nor delete checkpoints there; mount the same directory at that path on its machine and on"
        " every node"
    ]


async def sees_directory(config: MasterConfig, section: dict[str, Any] | None) -> bool | None:
    """Return what `has_directory` does; None where a file system does not answer."""
    seen: list[bool] = []
    try:
        await check_in_time(lambda: seen.append(has_directory(config, section)))
    except OSError:  # also TimeoutError
        return None
    return seen[0]


def has_directory(config: MasterConfig, section: dict[str, Any] | None) -> bool:
    """Return whether this machine has the directory of a storage. One beside the database is here by definition."""
    manager = build(section)
    if config.checkpoint_storage is None and isinstance(manager, LocalStorageManager):
        return _is_the_clusters(config, manager) or manager.base.is_dir()
    return Path(manager._base_path).is_dir()


def sweep_staging(config: MasterConfig, older_than_s: float, now: float) -> list[str]:
    """Remove what killed uploads left in the cluster's own storage, if that is local. Blocking."""
    manager = storage.build(master_storage(config))
    if not isinstance(manager, LocalStorageManager):
        return []
    swept = manager.sweep_staging(older_than_s, now)
    manager.sweep_contents()
    return swept


def _refuse_run_directories(config: MasterConfig, section: dict[str, Any] | None) -> None:
    manager = build(section)
    key = registry.section(section["type"] if section else None).path_key
    for root in run_roots(config):
        try:
            manager.refuse_inside(root)
        except ValueError as e:
            raise InvalidArgument(f"checkpoint_storage.{key}: {e}") from e


def _shares_with_others(uid: int) -> bool:
    """Return whether the cluster's storage has directories that a task of this uid cannot read, but the master can."""
    return can_switch_users() and uid != 0


def _is_the_clusters(config: MasterConfig, manager: LocalStorageManager) -> bool:
    """Return whether it is the same directory and none below it: users may have put links there."""
    own = storage.build(master_storage(config))
    return isinstance(own, LocalStorageManager) and normpath(own.base) == normpath(manager.base)


def _task_uid(conn: Connection, config: MasterConfig, experiment_id: int) -> int:
    job = jobs.get(conn, experiments.get(conn, experiment_id).job_id)
    return task_uid(runners.identity(conn, job.owner_id, job.workspace_id), config)
