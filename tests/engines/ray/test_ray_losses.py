"""Kill parts of a cluster under a trial on Ray: it trains again soon, on real nodes, and spends no restart."""

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ray_cluster import RayCluster
from ray_master import (
    await_step,
    begins,
    host_of,
    left_over,
    master_over,
    ready,
    restarts,
    said,
    submit,
    trial_of,
)

from cluster import Client, Cluster, eventually, write_experiment

pytestmark = [pytest.mark.engines, pytest.mark.timeout(900)]

AGAIN_SECONDS = 30.0
ADDRESSES = """
import determined as det
info = det.get_cluster_info()
print("this is rank", info.container_rank, "of", info.container_addrs, "slots", info.container_slot_counts, flush=True)
"""


def await_again(client: Client, trial: int, times: int, seconds: float) -> float:
    """Seconds until its process has begun for the nth time."""
    began = time.monotonic()
    eventually(
        lambda: len(begins(client, trial)) >= times,
        seconds,
        lambda: "\n".join(client.log_lines(trial)[-40:]),
        poll_seconds=0.1,
    )
    return time.monotonic() - began


def test_trial_of_two_nodes_meets_over_their_own_addresses(pair: RayCluster, tmp_path: Path) -> None:
    with master_over(pair, tmp_path / "master", {"slots_per_node": 2}) as master:
        client = ready(master, pair)
        config = {"resources": {"slots_per_trial": 4}}
        experiment = client.submit(write_experiment(tmp_path / "model", ADDRESSES, config))
        client.wait_state(experiment, "COMPLETED", "ERROR", seconds=120)
        met = said(client, trial_of(client, experiment), "this is rank")
        assert sorted(line.split()[3] for line in met) == ["0", "1"]
        for line in met:
            assert all(pair.nodes[name].address in line for name in ("n1", "n2"))
            assert line.endswith("slots [2, 2]")


def test_trial_of_a_dead_node_goes_on_elsewhere_from_its_checkpoint(pair: RayCluster, tmp_path: Path) -> None:
    with master_over(pair, tmp_path / "master", {}) as master:
        client = ready(master, pair)
        experiment = submit(client, tmp_path / "model", steps=400, pace=0.1, resources={"slots_per_trial": 1})
        trial = trial_of(client, experiment)
        await_step(client, trial, 6)
        lost = host_of(begins(client, trial)[0])
        pair.kill_node(lost)
        took = await_again(client, trial, 2, AGAIN_SECONDS)
        again = begins(client, trial)[1]
        assert host_of(again) != lost
        assert int(again.split()[2]) >= 5
        assert restarts(client, trial) == 0
        print(f"running again {took:.1f} s after its node died")
        client.post(f"/api/v1/experiments/{experiment}/kill")
        client.wait_state(experiment, "CANCELED", seconds=60)


def test_trial_leaves_a_node_that_is_to_be_taken_away(pair: RayCluster, tmp_path: Path) -> None:
    with master_over(pair, tmp_path / "master", {}) as master:
        client = ready(master, pair)
        experiment = submit(client, tmp_path / "model", steps=400, pace=0.1, resources={"slots_per_trial": 1})
        trial = trial_of(client, experiment)
        await_step(client, trial, 6)
        leaving = host_of(begins(client, trial)[0])
        pair.drain_node(leaving, 30)
        await_again(client, trial, 2, 60)
        assert host_of(begins(client, trial)[1]) != leaving
        assert restarts(client, trial) == 0
        client.post(f"/api/v1/experiments/{experiment}/kill")
        client.wait_state(experiment, "CANCELED", seconds=60)
    pair.kill_node(leaving)


def test_trial_does_not_notice_that_the_master_was_killed(pair: RayCluster, tmp_path: Path) -> None:
    with master_over(pair, tmp_path / "master", {}) as master:
        client = ready(master, pair)
        experiment = submit(client, tmp_path / "model", steps=120, pace=0.1, resources={"slots_per_trial": 1})
        trial = trial_of(client, experiment)
        await_step(client, trial, 6)
        master.kill()
        master.start()
        client = Client(master.url)
        client.wait_state(experiment, "COMPLETED", "ERROR", seconds=120)
        assert client.state(experiment) == "COMPLETED"
        assert len(begins(client, trial)) == 1
        assert [int(r["totalBatches"]) for r in client.metrics(trial, "training")] == list(range(1, 121))
    eventually(lambda: left_over(tmp_path / "master") == [], 30)


def test_trial_goes_on_after_the_whole_ray_cluster_was_restarted(pair: RayCluster, tmp_path: Path) -> None:
    with master_over(pair, tmp_path / "master", {}) as master:
        client = ready(master, pair)
        experiment = submit(client, tmp_path / "model", steps=400, pace=0.1, resources={"slots_per_trial": 1})
        trial = trial_of(client, experiment)
        await_step(client, trial, 6)
        for name in ("head", "n1", "n2"):
            pair.kill_node(name)
        pair.start_head()
        for name in ("n1", "n2"):
            pair.restart_node(name)
        await_again(client, trial, 2, 120)
        assert restarts(client, trial) == 0
        client.post(f"/api/v1/experiments/{experiment}/kill")
        client.wait_state(experiment, "CANCELED", seconds=60)


def test_twenty_random_kills_in_a_row_cost_no_restart(pair: RayCluster, tmp_path: Path) -> None:
    dice = random.Random(4)
    with master_over(pair, tmp_path / "master", {}) as master:
        client = ready(master, pair)
        experiment = submit(client, tmp_path / "model", steps=100_000, pace=0.1, resources={"slots_per_trial": 1})
        trial = trial_of(client, experiment)
        for number in range(20):
            client = Client(master.url)
            await_step(client, trial, _last_step(client, trial) + 6)
            victim = dice.choice(["runner", "sitter", "actor", "bridge", "master", "node"])
            print(f"kill {number}: {victim}", flush=True)
            _KILLS[victim](pair, master, begins(client, trial)[-1])
        client = Client(master.url)
        await_step(client, trial, _last_step(client, trial) + 6)
        assert restarts(client, trial) == 0
        client.post(f"/api/v1/experiments/{experiment}/kill")
        client.wait_state(experiment, "CANCELED", seconds=60)
    eventually(lambda: left_over(tmp_path / "master") == [], 30)


def _last_step(client: Client, trial: int) -> int:
    return max((int(report["totalBatches"]) for report in client.metrics(trial, "training")), default=0)


def _kill_process(words: str) -> Callable[[RayCluster, Cluster, str], None]:
    def kill(ray: RayCluster, master: Cluster, line: str) -> None:
        ray.kill_processes(words)

    return kill


def _kill_node(ray: RayCluster, master: Cluster, line: str) -> None:
    name = host_of(line)
    ray.kill_node(name)
    ray.restart_node(name)


def _kill_master(ray: RayCluster, master: Cluster, line: str) -> None:
    master.kill()
    master.start()


_KILLS: dict[str, Any] = {
    "runner": _kill_process("determined.exec.runner"),
    "sitter": _kill_process("determined.engines.remote.sitter"),
    "actor": _kill_process("ray::RunnerActor"),
    "bridge": _kill_process("determined.engines.ray.bridge"),
    "master": _kill_master,
    "node": _kill_node,
}
