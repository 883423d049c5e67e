"""Our part of the kills: a random search, eight trials at once, while the master is killed -9 and started again."""

import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import recovery_steps
from cluster import Cluster, running
from recovery_outcome import CALM, TRAINERS, Moment, Outcome, all_train, moments, outcome
from recovery_steps import CHECKPOINT

HERE = Path(__file__).parent
_SECONDS = 120.0


def search(kills: int, successors: int) -> Outcome:
    """`successors`: trials that begin, as others end, while the master is killed."""
    with tempfile.TemporaryDirectory(prefix="det-recovery-") as place:
        folder, diaries = Path(place), Path(place) / "diaries"
        diaries.mkdir()
        with running(folder, slots=TRAINERS) as cluster:
            experiment = _submit(cluster, folder, TRAINERS + successors)
            cluster.wait(lambda: _seldom(all_train(diaries)), "eight trials that train", _SECONDS)
            time.sleep(CALM)
            first_kill, serving = time.monotonic(), []
            for n, moment in enumerate(moments(kills)):
                for ended in range(1, n * (successors + 1) // kills + 1):
                    (diaries / f"stop-{ended}").touch()
                serving.append(_crash(cluster, experiment, moment))
            cluster.wait(lambda: _seldom(_begun(diaries) == TRAINERS + successors), "the last trials", _SECONDS)
            (diaries / "stop").touch()
            cluster.wait(lambda: _seldom(cluster.state_of(experiment) in ("COMPLETED", "ERROR")), "the end", _SECONDS)
            return _counted(cluster, experiment, diaries, serving, first_kill)


def _submit(cluster: Cluster, folder: Path, trials: int) -> int:
    (folder / "checkpoints").mkdir()
    storage = {"type": "directory", "container_path": str(folder / "checkpoints"), "save_trial_latest": 10_000}
    config = {
        "name": "recovery",
        "entrypoint": ["python3", str(HERE / "recovery_trial.py"), str(folder / "diaries")],
        "searcher": {"name": "random", "metric": "x", "max_trials": trials, "max_concurrent_trials": TRAINERS},
        "hyperparameters": {"rate": {"type": "double", "minval": 0, "maxval": 1}},
        "environment": {"shared_tmp": True},  # trials keep their diaries there
        "resources": {"slots_per_trial": 1},
        "checkpoint_storage": storage,
    }
    body = {"activate": True, "config": json.dumps(config), "modelDefinition": []}
    return int(cluster.call("POST", "/api/v1/experiments", body)["experiment"]["id"])


def _crash(cluster: Cluster, experiment: int, moment: Moment) -> float:
    """Seconds until the new master tells of the search."""
    port = int(cluster.url.rsplit(":", 1)[1])
    time.sleep(moment.serves)
    cluster.kill()
    time.sleep(moment.is_away)
    begin = time.perf_counter()
    cluster.start(port=port)
    cluster.state_of(experiment)
    return time.perf_counter() - begin


def _counted(cluster: Cluster, experiment: int, diaries: Path, serving: list[float], first_kill: float) -> Outcome:
    trials: list[dict[str, Any]] = cluster.call("GET", f"/api/v1/experiments/{experiment}/trials?limit=1000")["trials"]
    said = recovery_steps.read(diaries)
    told = [value for name, processes in said.items() for value in _told(int(name), sum(map(len, processes)))]
    kept = [value for trial in trials for value in _kept(cluster, trial["id"])]
    crashed = sum(trial["state"] != "STATE_COMPLETED" for trial in trials)
    found = outcome(diaries, serving, first_kill, crashed=crashed, told=told, kept=kept, checkpoints=True)
    return replace(found, restarted=max(found.restarted, sum(trial["restarts"] for trial in trials)))


def _told(trial: int, steps: int) -> Iterator[tuple[int, str, float]]:
    for step in range(1, steps + 1):
        yield from ((trial, kind, float(step)) for kind in ("training", "line"))
        if step % CHECKPOINT == 0:
            yield from ((trial, kind, float(step)) for kind in ("validation", "checkpoint"))


def _kept(cluster: Cluster, trial: int) -> Iterator[tuple[int, str, float]]:
    for group, metrics in (("training", "avg_metrics"), ("validation", "validation_metrics")):
        for batch in cluster.stream(f"/api/v1/trials/metrics/trial_metrics?trialIds={trial}&group={group}"):
            yield from ((trial, group, report["metrics"][metrics]["x"]) for report in batch["metrics"])
    for line in cluster.stream(f"/api/v1/trials/{trial}/logs"):
        if "|| line " in line["message"]:
            yield trial, "line", float(line["message"].rsplit(" ", 1)[1])
    for found in cluster.call("GET", f"/api/v1/trials/{trial}/checkpoints?limit=10000")["checkpoints"]:
        yield trial, "checkpoint", float(found["metadata"]["steps_completed"])


def _begun(diaries: Path) -> int:
    return len(recovery_steps.read(diaries))


def _seldom(answer: bool) -> bool:
    """Ask seldom: each question costs time that the trials need."""
    if not answer:
        time.sleep(0.2)
    return answer
