"""Short trials through a real master, warm or cold: how many a second, and what one costs in processor time."""

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
TORCH_SCRIPT = """
import torch
from determined import core

with core.init() as context:
    model = torch.nn.Linear(16, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=context.info.trial.hparams["x"])
    for step in range(10):
        optimizer.zero_grad()
        loss = model(torch.randn(32, 16)).pow(2).mean()
        loss.backward()
        optimizer.step()
    context.train.report_validation_metrics(steps_completed=10, metrics={"loss": loss.item()})
"""
SCRIPTS = {"core": CORE_SCRIPT, "torch": TORCH_SCRIPT}
_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Throughput:
    """`seconds` from the submission to the end of the search; processor seconds a trial, of the master and the rest."""

    seconds: float
    master: float
    tasks: float


def run(folder: Path, what: str, trials: int, workers: int) -> Throughput:
    script, _, cold = what.partition("-")
    settings = "resource_manager: {type: agent, warm: false}" if cold else ""
    with running(folder, slots=workers, settings=settings) as cluster:
        before = _processor(cluster)
        begin = time.time()
        experiment = _submit(cluster, folder, script, trials, workers)
        # Seldom: each question costs the master as much as a report. It tells us itself when the search was over.
        cluster.wait(lambda: (time.sleep(0.5), _state(cluster, experiment))[1] != "ACTIVE", "the search", _SECONDS)
        found = cluster.call("GET", f"/api/v1/experiments/{experiment}")["experiment"]
        master, tasks = (after - earlier for after, earlier in zip(_processor(cluster), before, strict=True))
        _check(cluster, experiment, trials)
    seconds = datetime.fromisoformat(found["endTime"]).timestamp() - begin
    return Throughput(seconds, master / trials, tasks / trials)


def _submit(cluster: Cluster, folder: Path, script: str, trials: int, workers: int) -> int:
    (folder / "checkpoints").mkdir()
    config = {
        "name": f"short trials ({script})",
        "entrypoint": ["python3", "trial.py"],
        "searcher": {"name": "random", "metric": "loss", "max_trials": trials, "max_concurrent_trials": workers},
        "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
        "resources": {"slots_per_trial": 1},
        "max_restarts": 0,
        "checkpoint_storage": {"type": "directory", "container_path": str(folder / "checkpoints")},
    }
    content = base64.b64encode(SCRIPTS[script].encode()).decode()
    files = [
        {"path": "trial.py", "type": ord("0"), "content": content, "mtime": "0", "mode": 0o644, "uid": 0, "gid": 0}
    ]
    body = {"activate": True, "config": json.dumps(config), "modelDefinition": files}
    return int(cluster.call("POST", "/api/v1/experiments", body)["experiment"]["id"])


def _state(cluster: Cluster, experiment: int) -> str:
    state: str = cluster.call("GET", f"/api/v1/experiments/{experiment}")["experiment"]["state"]
    short = state.removeprefix("STATE_")
    return "ACTIVE" if short in ("QUEUED", "PULLING", "STARTING", "RUNNING", "STOPPING_COMPLETED") else short


def _processor(cluster: Cluster) -> tuple[float, float]:
    """Return the processor time of the master itself, and of everything else on this machine.

    A runner that was forked is no child of the master, and the kernel adds its time to nobody's.
    """
    assert cluster.process is not None
    own, whole = psutil.Process(cluster.process.pid).cpu_times(), psutil.cpu_times()
    master = own.user + own.system
    return master, whole.user + whole.nice + whole.system - master


def _check(cluster: Cluster, experiment: int, trials: int) -> None:
    """Check that every trial ran and ended well: a number for anything else would be worth nothing."""
    found: list[dict[str, Any]] = cluster.call("GET", f"/api/v1/experiments/{experiment}/trials?limit=-1")["trials"]
    done = sum(trial["state"] == "STATE_COMPLETED" for trial in found)
    if done != trials:
        raise SystemExit(f"{done} of {trials} trials are complete; the states are {[t['state'] for t in found]}")
