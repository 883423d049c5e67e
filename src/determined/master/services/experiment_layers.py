"""The layers under a submitted config: which pool it runs in, and what master, pool and workspace add to it."""

from typing import Any

from determined._json import JsonObject
from determined.config import Prepared
from determined.config import prepare as prepare_config
from determined.config.pipeline import lay_over_template
from determined.errors import InvalidArgument
from determined.master.config import MasterConfig
from determined.master.db.queries.submission import ProjectOfExperiment
from determined.master.lifecycle.pools import engine_traits
from determined.master.lifecycle.task_storage import cluster_storage


def prepare(
    config: MasterConfig,
    project: ProjectOfExperiment,
    raw: dict[str, Any],
    *,
    managed: bool,
    seed: int,
    name: str,
    template: JsonObject | None = None,
) -> Prepared:
    """Return the complete config of an experiment for this master and project. `raw` has passed the sanity check."""
    pool_name = resolve_pool(config, project, raw if template is None else lay_over_template(raw, template))
    pool = config.pool(pool_name)
    if pool is None and managed:
        known = ", ".join(p.pool_name for p in config.pools)
        raise InvalidArgument(
            f"resource pool {pool_name!r} does not exist or is not available to workspace "
            f"{project.workspace_name!r}; use one of {known}"
        )
    resources = {**(raw.get("resources") or {}), "resource_pool": pool_name}
    scheduler = pool.scheduler if pool else config.resource_manager.scheduler
    return prepare_config(
        {**raw, "resources": resources},
        template=template,
        pool_tcd=pool.task_container_defaults.raw if pool and pool.task_container_defaults else None,
        cluster_tcd=config.task_container_defaults.raw,
        workspace_storage=project.checkpoint_storage,
        master_storage=master_storage(config),
        default_priority=scheduler.default_priority,
        invariants=[],
        seed=seed,
        name=name,
        managed=managed,
        engine=engine_traits(config, pool_name),
    )


def resolve_pool(config: MasterConfig, project: ProjectOfExperiment, raw: dict[str, Any]) -> str:
    """Return the pool named, else the workspace's default, else the cluster's: for compute or (0 slots) auxiliary."""
    resources = raw.get("resources") or {}
    if resources.get("resource_pool"):
        return str(resources["resource_pool"])
    slots = resources.get("slots_per_trial")
    if slots == 0:
        return project.default_aux_pool or config.resource_manager.default_aux_resource_pool
    return project.default_compute_pool or config.resource_manager.default_compute_resource_pool


def master_storage(config: MasterConfig) -> dict[str, Any]:
    """Return where checkpoints go by default: what the master's config says, else a directory beside its database."""
    return cluster_storage(config)
