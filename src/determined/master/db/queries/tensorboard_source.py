"""Experiments whose event files a TensorBoard shows."""

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, select

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.queries.batching import batches
from determined.master.db.schema import experiments, projects, trials, users, workspaces


class SourceExperiment(msgspec.Struct, frozen=True):
    """Experiment, its owner, and the storage that its workspace gives to those who name none."""

    id: int
    owner_id: int
    username: str
    config: JsonObject
    workspace_storage: JsonObject | None


_EXPERIMENTS = (
    select(
        experiments.c.id,
        experiments.c.owner_id,
        users.c.username,
        experiments.c.config,
        workspaces.c.checkpoint_storage.label("workspace_storage"),
    )
    .join(users, users.c.id == experiments.c.owner_id)
    .join(projects, projects.c.id == experiments.c.project_id)
    .join(workspaces, workspaces.c.id == projects.c.workspace_id)
    .order_by(experiments.c.id)
)


def list_experiments(conn: Connection, experiment_ids: Sequence[int]) -> list[SourceExperiment]:
    """List those of these experiments that exist."""
    found: list[SourceExperiment] = []
    for some in batches(sorted(experiment_ids)):
        found += fetch.rows(conn, _EXPERIMENTS.where(experiments.c.id.in_(some)), SourceExperiment)
    return found


def experiments_of_trials(conn: Connection, trial_ids: Sequence[int]) -> dict[int, int]:
    """Return the experiment of each of these trials that exists."""
    found: dict[int, int] = {}
    for some in batches(trial_ids):
        rows = conn.execute(select(trials.c.id, trials.c.experiment_id).where(trials.c.id.in_(some)))
        found.update((trial_id, experiment_id) for trial_id, experiment_id in rows)
    return found
