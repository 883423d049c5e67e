"""Info files in the run directory of a tracked program: a child that calls `core.init` joins the trial by them."""

import json
import os
from pathlib import Path

from determined._info import ClusterInfo
from determined._json import JsonObject
from determined.rundir.layout import RunDir


def write(run_dir: RunDir, info: ClusterInfo) -> None:
    """Write them for this user alone: they hold the user's token."""
    trial = info.trial
    cluster = {
        "master_url": info.master_url,
        "cluster_id": info.cluster_id,
        "agent_id": info.agent_id,
        "slot_ids": info.slot_ids,
        "task_id": info.task_id,
        "allocation_id": info.allocation_id,
        "session_token": info.session_token,
        "task_type": info.task_type,
        "latest_checkpoint": info.latest_checkpoint,
    }
    details = {
        "trial_id": trial.trial_id,
        "experiment_id": trial.experiment_id,
        "trial_seed": trial.trial_seed,
        "hparams": trial.hparams,
        "config": trial._config,
        "steps_completed": trial._steps_completed,
        "trial_run_id": trial._trial_run_id,
    }
    rendezvous = {
        "container_addrs": info.container_addrs,
        "container_rank": info.container_rank,
        "container_slot_counts": info.container_slot_counts,
    }
    for name, content in (("cluster", cluster), ("trial", details), ("rendezvous", rendezvous)):
        _write(run_dir.info / f"{name}.json", content)


def _write(path: Path, content: JsonObject) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        json.dump(content, out)
