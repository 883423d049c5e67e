"""The files of an experiment as the master itself reaches them, and how far it goes there.

A user chooses where checkpoints lie; the master has rights that users have not. In a local place that is not the
cluster's own `checkpoint_storage` it touches only directories of the uid as which the experiment's tasks run (its own
uid where tasks run as the master does).
"""

import asyncio
from os.path import normpath
from typing import Any

from sqlalchemy import Connection

from determined import storage
from determined.errors import FailedPrecondition
from determined.master.config import MasterConfig
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import job as jobs
from determined.master.db.queries import runner as runners
from determined.master.lifecycle.identity import task_uid
from determined.master.services.experiment_layers import master_storage
from determined.storage.local import LocalStorageManager


async def remove_tensorboard(ctx: MasterContext, experiment_id: int, config: dict[str, Any]) -> None:
    """Drop the experiment's TensorBoard files; none there is fine."""
    manager = await open_storage(ctx, experiment_id, config.get("checkpoint_storage"))
    await asyncio.to_thread(manager.remove, f"{ctx.cluster.cluster_id}/tensorboard/experiment/{experiment_id}")


async def open_storage(ctx: MasterContext, experiment_id: int, config: dict[str, Any] | None) -> storage.StorageManager:
    """The storage of an experiment, or of one of its checkpoints. Raises FailedPrecondition if there is none."""
    manager = await asyncio.to_thread(_build, config)
    if isinstance(manager, LocalStorageManager) and not _is_the_clusters(ctx.config, manager):
        manager.only_owned_by(await ctx.db.read(lambda conn: _task_uid(conn, ctx.config, experiment_id)))
    return manager


def sweep_staging(config: MasterConfig, older_than_s: float, now: float) -> list[str]:
    """Remove what killed uploads left in the cluster's own storage, if that is local. Blocking."""
    manager = storage.build(master_storage(config))
    return manager.sweep_staging(older_than_s, now) if isinstance(manager, LocalStorageManager) else []


def _build(config: dict[str, Any] | None) -> storage.StorageManager:
    try:
        return storage.build(config or {})
    except (ValueError, TypeError) as e:
        raise FailedPrecondition(f"the checkpoint storage cannot be opened: {e}") from e


def _is_the_clusters(config: MasterConfig, manager: LocalStorageManager) -> bool:
    """The same directory and none below it: users may have put links there."""
    own = storage.build(master_storage(config))
    return isinstance(own, LocalStorageManager) and normpath(own.base) == normpath(manager.base)


def _task_uid(conn: Connection, config: MasterConfig, experiment_id: int) -> int:
    job = jobs.get(conn, experiments.get(conn, experiment_id)["job_id"])
    return task_uid(runners.identity(conn, job["owner_id"], job["workspace_id"]), config)
