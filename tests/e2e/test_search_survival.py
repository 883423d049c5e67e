"""kill -9 of the master in the middle of searches: the same trials, the same lengths, nothing restarted.

One run of each method here, five of each in `make test-chaos`.
"""

import json
import random
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from cluster import Client, Cluster, write_experiment
from determined.search.events import feed
from determined.search.method import Create
from determined.search.searcher import Searcher

pytestmark = pytest.mark.timeout(1200)

TRIALS = 6
SPACE = {"x": {"type": "double", "minval": 0, "maxval": 1}}
HALVING = {"name": "async_halving", "num_rungs": 2, "divisor": 3, "max_trials": TRIALS, "max_concurrent_trials": 2}
CLASSIC = {**HALVING, "metric": "loss", "max_length": {"batches": 9}}
LATE = {**HALVING, "metric": "loss", "time_metric": "batches", "max_time": 9}

OPERATIONS = """
import json, time, determined as det
info = det.get_cluster_info()
with det.core.init() as core:
    steps = 0
    if info.latest_checkpoint:
        with core.checkpoint.restore_path(info.latest_checkpoint) as path:
            steps = json.loads((path / "steps").read_text())
    print(f"starts at {steps}", flush=True)
    for op in core.searcher.operations():
        while steps < op.length:
            time.sleep(0.05)
            steps += 1
        loss = info.trial.hparams["x"] / steps
        core.train.report_validation_metrics(steps_completed=steps, metrics={"loss": loss})
        with core.checkpoint.store_path({"steps_completed": steps}) as (path, uuid):
            (path / "steps").write_text(json.dumps(steps))
        op.report_completed(loss)
"""

REPORTS = """
import time, determined as det
info = det.get_cluster_info()
with det.core.init() as core:
    for steps in range(1, 10):
        time.sleep(0.1)
        metrics = {"loss": info.trial.hparams["x"] / steps, "batches": steps}
        core.train.report_validation_metrics(steps_completed=steps, metrics=metrics)
        if core.preempt.should_preempt():
            break
"""

NEVER_LOOKS = """
import time, determined as det
info = det.get_cluster_info()
with det.core.init() as core:
    steps = 0
    while True:
        time.sleep(0.1)
        steps += 1
        metrics = {"loss": info.trial.hparams["x"] / steps, "batches": steps}
        core.train.report_validation_metrics(steps_completed=steps, metrics=metrics)
"""


def run(directory: Path, searcher: dict[str, Any], script: str, *, kills: int, seed: int) -> None:
    cluster = Cluster(directory / "cluster", slots=2)
    cluster.start()
    try:
        config = write_experiment(
            directory / "model",
            script,
            {"searcher": searcher, "hyperparameters": SPACE, "reproducibility": {"experiment_seed": seed}},
        )
        experiment = Client(cluster.url).submit(config)
        rng = random.Random(seed)
        for _ in range(kills):
            time.sleep(rng.uniform(0.2, 3.0))
            cluster.kill()
            cluster.start()
        client = Client(cluster.url)
        client.wait_state(experiment, "COMPLETED", "ERROR", seconds=600)
        check(client, cluster, experiment, searcher, seed)
    finally:
        cluster.stop()
        cluster.end_runners()


def check(client: Client, cluster: Cluster, experiment: int, searcher: dict[str, Any], seed: int) -> None:
    trials = client.trials(experiment)
    assert {t["state"] for t in trials} == {"STATE_COMPLETED"}, cluster.log()[-3000:]
    assert {t["restarts"] for t in trials} == {0}
    points, lengths = simulated(cluster.directory, searcher, seed)
    assert [t["hparams"] for t in trials] == list(points.values()), "the trials are those of the simulation"
    assert len(trials) == TRIALS
    by_point = {t["hparams"]["x"]: t["id"] for t in trials}
    for request_id, told in lengths.items():
        stored = client.metrics(by_point[points[request_id]["x"]], "validation")
        steps = [m["totalBatches"] for m in stored]
        assert steps[: len(told)] == told, "every validation came to the search, once and in order"
    if "max_length" in searcher:
        assert {tuple(told) for told in lengths.values()} == {(3,), (3, 9)}
        first = by_point[next(points[r]["x"] for r, told in lengths.items() if len(told) == 2)]
        starts = [line.rsplit("|| ", 1)[1] for line in client.log_lines(first) if "|| starts at" in line]
        assert starts in (["starts at 0"], ["starts at 0", "starts at 3"]), "resumed where it stopped"


def simulated(data: Path, searcher: dict[str, Any], seed: int) -> tuple[dict[str, Any], dict[str, list[int]]]:
    """Points and lengths of each trial when the pure search hears what the master's did."""
    database = sqlite3.connect(next(data.glob("*.db")))
    told = [json.loads(event) for (event,) in database.execute("SELECT event FROM search_history ORDER BY n")]
    database.close()
    pure = Searcher.create(searcher, SPACE, seed=seed, classic="max_length" in searcher)
    points: dict[str, Any] = {}
    lengths: dict[str, list[int]] = {}
    for event in [{"type": "start"}, *told]:
        operations = feed(pure, event)
        if event["type"] == "validation":
            lengths[event["id"]].append(int(event["length"]))
        for create in [op for op in operations if isinstance(op, Create)]:
            points[create.request_id], lengths[create.request_id] = create.hparams, []
            feed(pure, {"type": "created", "id": create.request_id})
    return points, lengths


def test_classic_search_survives_kills_of_the_master(tmp_path: Path) -> None:
    run(tmp_path, CLASSIC, OPERATIONS, kills=3, seed=1)


def test_late_search_survives_kills_of_the_master(tmp_path: Path) -> None:
    run(tmp_path, LATE, REPORTS, kills=3, seed=2)


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(10, 15))
@pytest.mark.parametrize(("searcher", "script"), [(CLASSIC, OPERATIONS), (LATE, REPORTS)], ids=["classic", "late"])
def test_search_survives_many_kills_of_the_master(
    tmp_path: Path, searcher: dict[str, Any], script: str, seed: int
) -> None:
    run(tmp_path, searcher, script, kills=6, seed=seed)


def test_stopped_script_that_never_looks_at_preemption_is_ended(client: Client, tmp_path: Path) -> None:
    searcher = {**LATE, "max_trials": 2, "max_time": 6}
    config = write_experiment(tmp_path / "model", NEVER_LOOKS, {"searcher": searcher, "hyperparameters": SPACE})
    experiment = client.submit(config)
    client.wait_state(experiment, "COMPLETED", "ERROR", seconds=600)
    trials = client.trials(experiment)
    assert [t["state"] for t in trials] == ["STATE_COMPLETED"] * 2
    assert [t["restarts"] for t in trials] == [0, 0]
