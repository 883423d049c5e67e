"""A pool without a node until something waits in it: Ray's own autoscaler, with its provider of make-believe nodes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ray_cluster import RayCluster, why_not
from ray_master import agents, master_over, submit, trial_of

from cluster import Client, eventually

pytestmark = [pytest.mark.engines, pytest.mark.timeout(600)]

WORKER = {"resources": {"CPU": 0, "GPU": 2}, "node_config": {}, "min_workers": 0, "max_workers": 2}
NOTHING = {"setup_commands": [], "head_setup_commands": [], "worker_setup_commands": [], "initialization_commands": [],
           "head_start_ray_commands": [], "worker_start_ray_commands": [], "file_mounts": {}, "rsync_exclude": [],
           "rsync_filter": [], "cluster_synced_files": [], "file_mounts_sync_continuously": False,
           "docker": {}, "auth": {}}  # fmt: skip
AUTOSCALING: dict[str, Any] = {
    "cluster_name": "make-believe",
    "max_workers": 4,
    "upscaling_speed": 1.0,
    "idle_timeout_minutes": 10,
    "head_node_type": "ray.head.default",
    "provider": {
        "type": "fake_multinode",
        "use_node_id_as_ip": True,
        "disable_node_updaters": True,
        "disable_launch_config_check": True,
    },
    "available_node_types": {
        "ray.head.default": {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
        "ray.worker": WORKER,
    },
    **NOTHING,
}


@pytest.fixture
def growing() -> Iterator[RayCluster]:
    problem = why_not()
    if problem is not None:
        pytest.skip(problem)
    cluster = RayCluster(autoscaling=AUTOSCALING)
    try:
        cluster.start_head()
        yield cluster
    finally:
        cluster.close()


def test_queued_trial_brings_the_node_that_it_needs(growing: RayCluster, tmp_path: Path) -> None:
    pool = {"slots_per_node": 2, "max_nodes": 2}
    with master_over(growing, tmp_path / "master", pool) as master:
        client = Client(master.url)
        experiment = submit(client, tmp_path / "model", steps=6, pace=0.0, resources={"slots_per_trial": 1})
        eventually(lambda: agents(client), 240, master.log, poll_seconds=1)
        client.wait_state(experiment, "COMPLETED", "ERROR", seconds=120)
        assert client.state(experiment) == "COMPLETED", "\n".join(client.log_lines(trial_of(client, experiment)))
