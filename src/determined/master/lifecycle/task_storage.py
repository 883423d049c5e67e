"""Storages that a submitted task works with: a notebook's saved files, the sources of a TensorBoard."""

from pathlib import Path

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import ExperimentConfig
from determined.config.job import JobConfig
from determined.config.task_kinds import NOTEBOOK, TENSORBOARD
from determined.master.config import MasterConfig
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import trial as trials
from determined.master.db.rows.submitted_tasks import SubmittedTask
from determined.storage import registry
from determined.storage.shared_fs.config import section_at


def cluster_storage(config: MasterConfig) -> JsonObject:
    """Return where checkpoints go by default: what the master's config says, else a directory beside its database."""
    if config.checkpoint_storage is not None:
        return config.checkpoint_storage.raw
    return section_at(str(Path(config.data_dir).absolute() / "checkpoints"))


def sections_of(conn: Connection, config: MasterConfig, task_type: str, task: SubmittedTask) -> list[JsonObject]:
    """Return the `checkpoint_storage` sections, each once."""
    if task_type == NOTEBOOK.name and not JobConfig.load(task.config).work_dir:
        return [cluster_storage(config)]
    if task_type != TENSORBOARD.name:
        return []
    of_trials = {trials.get(conn, id_).experiment_id for id_ in task.trial_ids or ()}
    sections: list[JsonObject] = []
    for id_ in sorted({*(task.experiment_ids or ()), *of_trials}):
        section = ExperimentConfig.load(experiments.get(conn, id_).config).checkpoint_storage.raw
        if section not in sections:
            sections.append(section)
    return sections


def mounts_of(sections: list[JsonObject]) -> list[tuple[str, str]]:
    """Return the directories of the host that a container needs at the same path, and their mount propagation."""
    mounts = (registry.section(section["type"]).load(section).container_mount for section in sections)
    return sorted({mount for mount in mounts if mount is not None})
