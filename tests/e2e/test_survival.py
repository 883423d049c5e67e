"""kill -9 of the master and of PostgreSQL while eight trials run; five kills each here, twenty in `make test-chaos`."""

from pathlib import Path

import chaos
import pytest

from cluster import Client, Cluster, eventually, write_experiment

pytestmark = pytest.mark.timeout(1200)


def test_five_kills_of_the_master_on_sqlite_lose_and_double_nothing(tmp_path: Path) -> None:
    chaos.run(tmp_path, kills=5, seed=1)


def test_five_kills_of_the_master_on_postgresql_lose_and_double_nothing(tmp_path: Path) -> None:
    with chaos.postgres_server() as server:
        chaos.run(tmp_path, kills=5, seed=2, server=server)


def test_five_kills_of_postgresql_itself_lose_and_double_nothing(tmp_path: Path) -> None:
    with chaos.postgres_server() as server:
        chaos.run(tmp_path, kills=5, seed=3, server=server, kill_database=True)


@pytest.mark.chaos
@pytest.mark.parametrize("seed", [11])
def test_twenty_kills_of_the_master_on_sqlite(tmp_path: Path, seed: int) -> None:
    chaos.run(tmp_path, kills=20, seed=seed)


@pytest.mark.chaos
@pytest.mark.parametrize("kill_database", [False, True])
def test_twenty_kills_on_postgresql(tmp_path: Path, kill_database: bool) -> None:
    with chaos.postgres_server() as server:
        chaos.run(tmp_path, kills=20, seed=12, server=server, kill_database=kill_database)


POLITE = """
import time, determined as det
with det.core.init() as core:
    for step in range(1, 2000):
        time.sleep(0.05)
        core.train.report_training_metrics(steps_completed=step, metrics={"x": step})
        if core.preempt.should_preempt():
            break
"""


def test_a_pause_acknowledged_just_before_a_kill_still_counts(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / "cluster", slots=1)
    cluster.start()
    try:
        client = Client(cluster.url)
        config = write_experiment(tmp_path / "model", POLITE)
        experiment = client.submit(config)
        trial = eventually(lambda: client.trials(experiment))[0]["id"]
        eventually(lambda: client.metrics(trial, "training"))
        client.post(f"/api/v1/experiments/{experiment}/pause")
        cluster.kill()
        cluster.start()
        client = Client(cluster.url)
        client.wait_state(experiment, "PAUSED")
        eventually(lambda: not client.get("/tasks"))
        assert client.trials(experiment)[0]["restarts"] == 0
    finally:
        cluster.stop()
        cluster.end_runners()
