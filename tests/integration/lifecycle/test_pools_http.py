"""What a pool brings along and who may use it, over HTTP."""

from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import HttpCluster, resources

GPU_DEFAULTS = {
    "startup_hook": "echo from the pool",
    "dtrain_network_interface": "eth7",
    "environment_variables": ["WHERE=pool", "ONLY_POOL=1"],
    "bind_mounts": [{"host_path": "/data", "container_path": "data"}],
}
CLUSTER_DEFAULTS = {
    "startup_hook": "echo from the cluster",
    "environment_variables": ["WHERE=cluster", "ONLY_CLUSTER=1"],
    "gloo_port_range": "1000:2000",
}


@pytest.fixture
def cluster(start_master: Callable[..., Any], sqlite_url: str) -> HttpCluster:
    pools = [
        {"pool_name": "default"},
        {"pool_name": "gpu", "task_container_defaults": GPU_DEFAULTS},
        {"pool_name": "turns", "scheduler": {"type": "round_robin"}},
    ]
    cluster = HttpCluster(
        start_master,
        sqlite_url,
        nodes={"a": 2, "g": 2, "t": 2},
        pools={"g": "gpu", "t": "turns"},
        resource_pools=pools,
        task_container_defaults=CLUSTER_DEFAULTS,
    )
    return cluster


def spec_in(cluster: HttpCluster, pool: str) -> Any:
    cluster.submit(resources={"resource_pool": pool})
    [launch] = cluster.launched()
    return cluster.task(launch).get(resources(launch) + "/spec").json


def test_tasks_of_a_pool_get_its_defaults_over_those_of_the_cluster(cluster: HttpCluster) -> None:
    spec = spec_in(cluster, "gpu")
    assert (spec["startupHook"], spec["networkInterface"]) == ("echo from the pool", "eth7")
    assert {"WHERE=pool", "ONLY_POOL=1", "ONLY_CLUSTER=1"} <= set(spec["environment"])
    assert "WHERE=cluster" not in spec["environment"]
    assert spec["environment"][0] == "GLOO_PORT_RANGE=1000:2000", "first, so that the user's own value wins"
    assert [m["hostPath"] for m in spec["bindMounts"]] == ["/data"]


def test_tasks_of_a_pool_without_defaults_get_those_of_the_cluster(cluster: HttpCluster) -> None:
    spec = spec_in(cluster, "default")
    assert (spec["startupHook"], spec["networkInterface"]) == ("echo from the cluster", None)
    assert {"WHERE=cluster", "ONLY_CLUSTER=1"} <= set(spec["environment"])
    assert not spec["bindMounts"]


def test_pool_bound_to_another_workspace_is_not_available(cluster: HttpCluster) -> None:
    cluster.admin.post("/api/v1/workspaces", {"name": "mine"})
    body = {"resourcePoolName": "gpu", "workspaceNames": ["mine"]}
    assert cluster.admin.post("/api/v1/resource-pools/gpu/workspace-bindings", body).status == 200
    for validate_only in (True, False):
        answer = submit_to(cluster, "gpu", validate_only)
        assert answer.status == 400
        assert "'gpu' does not exist or is not available to workspace 'Uncategorized'" in answer.message
    assert "gpu" not in answer.message.partition("use one of")[2]
    assert cluster.user.get("/api/v1/experiments").json["experiments"] == []


def test_job_cannot_be_moved_into_a_pool_of_another_workspace(cluster: HttpCluster) -> None:
    cluster.admin.post("/api/v1/workspaces", {"name": "mine"})
    body = {"resourcePoolName": "gpu", "workspaceNames": ["mine"]}
    assert cluster.admin.post("/api/v1/resource-pools/gpu/workspace-bindings", body).status == 200
    experiment_id = cluster.submit()
    job = cluster.user.get(f"/api/v1/experiments/{experiment_id}").json["experiment"]["jobId"]
    moved = cluster.user.post("/api/v1/job-queues", {"updates": [{"jobId": job, "resourcePool": "gpu"}]})
    assert moved.status == 400 and "is not available to workspace" in moved.message


def test_round_robin_pool_takes_turns_between_jobs(cluster: HttpCluster) -> None:
    search = {"name": "random", "metric": "loss", "max_trials": 4}
    wanted = {"resource_pool": "turns"}
    greedy = cluster.submit(searcher=search, resources=wanted, activate=False)
    modest = cluster.submit(resources=wanted, activate=False)
    # Both are in the queue before anything of theirs fits: the only slots of the pool are taken first.
    cluster.submit(resources=wanted | {"slots_per_trial": 2})
    [first] = cluster.launched()
    for experiment_id in (greedy, modest):
        assert cluster.user.post(f"/api/v1/experiments/{experiment_id}/activate").status == 200
    cluster.run(first)
    cluster.leave(first)
    started = cluster.launched(3)[1:]
    experiments = {cluster.task(one).get(resources(one) + "/spec").json["experimentId"] for one in started}
    assert experiments == {greedy, modest}
    [pool] = [p for p in cluster.user.get("/api/v1/resource-pools").json["resourcePools"] if p["name"] == "turns"]
    assert pool["schedulerType"] == "SCHEDULER_TYPE_ROUND_ROBIN"


def submit_to(cluster: HttpCluster, pool: str, validate_only: bool) -> Any:
    config = f"name: x\nentrypoint: 'true'\nsearcher: {{name: single, metric: a}}\nresources: {{resource_pool: {pool}}}"
    body = {"config": config, "modelDefinition": [], "validateOnly": validate_only}
    return cluster.user.post("/api/v1/experiments", body)
