"""No-op trials through a real master, a cold Python each: how many a second, and what one costs in processor time."""

import base64
import json
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil

from cluster import Cluster, running

CORE_SCRIPT = """
from determined import core

with core.init() as context:
    context.train.report_validation_metrics(steps_completed=1, metrics={"loss": context.info.trial.hparams["x"]})
"""
ENTRYPOINTS: dict[str, list[str]] = {
    "core": ["python3", "trial.py"],
    "empty": ["python3", "-c", "pass"],
}
_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Throughput:
    """`seconds` from the submission to the end of the search; processor seconds a trial, of the master and the rest."""

    seconds: float
    master: float
    tasks: float


def run(folder: Path, entrypoint: str, trials: int, workers: int) -> Throughput:
    with running(folder, slots=workers) as cluster:
        before = _processor(cluster)
        begin = time.time()
        experiment = _submit(cluster, folder, entrypoint, trials, workers)
        # Seldom: each question costs the master as much as a report. It tells us itself when the search was over.
        cluster.wait(lambda: (time.sleep(0.5), _state(cluster, experiment))[1] != "ACTIVE", "the search", _SECONDS)
        found = cluster.call("GET", f"/api/v1/experiments/{experiment}")["experiment"]
        master, tasks = (after - earlier for after, earlier in zip(_processor(cluster), before, strict=True))
        _check(cluster, experiment, trials)
    seconds = datetime.fromisoformat(found["endTime"]).timestamp() - begin
    return Throughput(seconds, master / trials, tasks / trials)


def _submit(cluster: Cluster, folder: Path, entrypoint: str, trials: int, workers: int) -> int:
    (folder / "checkpoints").mkdir()
    config = {
        "name": f"no-op ({entrypoint})",
        "entrypoint": ENTRYPOINTS[entrypoint],
        "searcher": {"name": "random", "metric": "loss", "max_trials": trials, "max_concurrent_trials": workers},
        "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
        "resources": {"slots_per_trial": 1},
        "max_restarts": 0,
        "checkpoint_storage": {"type": "directory", "container_path": str(folder / "checkpoints")},
    }
    script = {"path": "trial.py", "type": ord("0"), "content": base64.b64encode(CORE_SCRIPT.encode()).decode()}
    files = [{**script, "mtime": "0", "mode": 0o644, "uid": 0, "gid": 0}]
    body = {"activate": True, "config": json.dumps(config), "modelDefinition": files}
    return int(cluster.call("POST", "/api/v1/experiments", body)["experiment"]["id"])


def _state(cluster: Cluster, experiment: int) -> str:
    state: str = cluster.call("GET", f"/api/v1/experiments/{experiment}")["experiment"]["state"]
    short = state.removeprefix("STATE_")
    return "ACTIVE" if short in ("QUEUED", "PULLING", "STARTING", "RUNNING", "STOPPING_COMPLETED") else short


def _processor(cluster: Cluster) -> tuple[float, float]:
    """Return the processor time of the master itself, and of all runners and scripts that have ended."""
    assert cluster.process is not None
    times = psutil.Process(cluster.process.pid).cpu_times()
    return times.user + times.system, times.children_user + times.children_system


def _check(cluster: Cluster, experiment: int, trials: int) -> None:
    """Check that every trial ran and ended well: a number for anything else would be worth nothing."""
    found: list[dict[str, Any]] = cluster.call("GET", f"/api/v1/experiments/{experiment}/trials?limit=-1")["trials"]
    done = sum(trial["state"] == "STATE_COMPLETED" for trial in found)
    if done != trials:
        raise SystemExit(f"{done} of {trials} trials are complete; the states are {[t['state'] for t in found]}")
