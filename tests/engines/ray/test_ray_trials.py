"""Trials of a real master on a real Ray cluster."""

import subprocess
from pathlib import Path

import pytest
from ray_cluster import RayCluster
from ray_master import STEPS, agents, begins, left_over, master_over, submit, trial_of

from cluster import Client, det, eventually, free_port, write_experiment

pytestmark = pytest.mark.timeout(240)


def test_trial_runs_on_a_node_of_the_ray_cluster(head: RayCluster, tmp_path: Path) -> None:
    with master_over(head, tmp_path / "master", {"resource": "seat"}) as master:
        client = Client(master.url)
        node = head.agent_id("head")
        eventually(lambda: node in agents(client), 90, master.log)
        assert len(agents(client)[node]["slots"]) == 4
        assert agents(client)[node]["addresses"] == [head.nodes["head"].address]
        experiment = submit(client, tmp_path / "model", steps=6, pace=0.0, resources={"slots_per_trial": 1})
        client.wait_state(experiment, "COMPLETED", "ERROR", seconds=90)
        trial = trial_of(client, experiment)
        assert client.state(experiment) == "COMPLETED", "\n".join(client.log_lines(trial))
        assert begins(client, trial) == [f"begins at 0 on {node}"]


@pytest.mark.engines
def test_master_with_a_certificate_of_its_own_is_trusted_by_bridge_and_task(ray: RayCluster, tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=m -addext subjectAltName=IP:{ray.master_address}"
    subprocess.run(["openssl", *words.split(), "-keyout", key, "-out", cert], check=True, capture_output=True)
    with master_over(ray, tmp_path / "master", {}, tls={"cert": str(cert), "key": str(key)}) as master:
        client = Client(master.url, cert=str(cert))
        assert client.url.startswith("https://")
        eventually(lambda: ray.agent_id("n1") in agents(client), 90, master.log)
        experiment = submit(client, tmp_path / "model", steps=6, pace=0.0, resources={"slots_per_trial": 1})
        client.wait_state(experiment, "COMPLETED", "ERROR", seconds=90)
        assert client.state(experiment) == "COMPLETED", "\n".join(client.log_lines(trial_of(client, experiment)))


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
        assert any(f"begins at 0 on {ray.agent_id(name)}" in created.stdout for name in ray.alive())
    finally:
        det(home, "deploy", "ray", "down")
    assert left_over(tmp_path) == []
