"""Trials of a real master on a real Ray cluster."""

from pathlib import Path

import pytest
from ray_cluster import RayCluster
from ray_master import STEPS, agents, begins, left_over, master_over, submit, trial_of

from cluster import Client, det, eventually, free_port, write_experiment

pytestmark = pytest.mark.timeout(240)


def test_trial_runs_on_a_node_of_the_ray_cluster(ray: RayCluster, tmp_path: Path) -> None:
    with master_over(ray, tmp_path / "master", {}) as master:
        client = Client(master.url)
        n1 = ray.agent_id("n1")
        eventually(lambda: n1 in agents(client), 90, master.log)
        assert len(agents(client)[n1]["slots"]) == 4
        assert agents(client)[n1]["addresses"] == [ray.nodes["n1"].address]
        experiment = submit(client, tmp_path / "model", steps=6, pace=0.0, resources={"slots_per_trial": 1})
        client.wait_state(experiment, "COMPLETED", "ERROR", seconds=90)
        trial = trial_of(client, experiment)
        assert client.state(experiment) == "COMPLETED", "\n".join(client.log_lines(trial))
        assert begins(client, trial) == [f"begins at 0 on {n1}"]


@pytest.mark.engines
def test_two_commands_lead_from_a_ray_cluster_to_a_trial(ray: RayCluster, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    config = {"hyperparameters": {"steps": 6, "pace": 0.0}, "resources": {"slots_per_trial": 1}}
    model = write_experiment(tmp_path / "model", STEPS, config)
    options = ["--auth-token-file", str(ray.token_file), "--master-port", free_port()]
    det(home, "deploy", "ray", "up", ray.dashboard, *options, "--storage-host-path", str(tmp_path / "checkpoints"))
    try:
        eventually(lambda: ray.agent_id("n1") in det(home, "agent", "list").stdout, 90, poll_seconds=1)
        created = det(home, "experiment", "create", str(model), str(model.parent), "--follow-first-trial")
        assert f"begins at 0 on {ray.agent_id('n1')}" in created.stdout
    finally:
        det(home, "deploy", "ray", "down")
    assert left_over(tmp_path) == []
