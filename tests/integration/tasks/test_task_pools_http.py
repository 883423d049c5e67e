"""Tasks and pools that their workspace may not use."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from task_cluster import NOUNS, TaskCluster

KINDS = (*NOUNS, "generic task")


@pytest.fixture
def cluster(start_master: Callable[..., Any], sqlite_url: str) -> TaskCluster:
    """Two pools; `gpu` is bound to the workspace `theirs` alone."""
    pools = [{"pool_name": "default"}, {"pool_name": "gpu"}]
    cluster = TaskCluster(start_master, sqlite_url, nodes={"a": 2, "b": 2}, pools={"b": "gpu"}, resource_pools=pools)
    workspace(cluster, "theirs")
    bind(cluster, "theirs")
    return cluster


def workspace(cluster: TaskCluster, name: str, **fields: Any) -> int:
    answer = cluster.admin.post("/api/v1/workspaces", {"name": name, **fields})
    assert answer.status == 200, answer.raw
    return int(answer.json["workspace"]["id"])


def bind(cluster: TaskCluster, *names: str) -> None:
    body = {"resourcePoolName": "gpu", "workspaceNames": list(names)}
    assert cluster.admin.post("/api/v1/resource-pools/gpu/workspace-bindings", body).status == 200


def submit(cluster: TaskCluster, kind: str, workspace_id: int, **resources: Any) -> Any:
    """Submit a task of any kind into a workspace as a user who is no administrator."""
    config = {"entrypoint": ["true"], "resources": resources}
    if kind == "generic task":
        project = {"name": str(uuid.uuid4()), "workspaceId": workspace_id}
        made = cluster.admin.post(f"/api/v1/workspaces/{workspace_id}/projects", project).json["project"]["id"]
        return cluster.try_create(config, projectId=made)
    sources = {"experimentIds": [cluster.submit(activate=False)]} if kind == "tensorboard" else {}
    return cluster.try_launch(kind, config=config, workspaceId=workspace_id, **sources)


@pytest.mark.parametrize("kind", KINDS)
def test_no_task_is_started_in_a_pool_that_is_bound_to_another_workspace(cluster: TaskCluster, kind: str) -> None:
    mine = workspace(cluster, "mine")
    refused = submit(cluster, kind, mine, slots=0, resource_pool="gpu")
    assert refused.status == 400, refused.raw
    assert f"resource pool gpu does not exist or is not available to workspace id {mine}; use one of default" in (
        refused.message
    )
    assert cluster.user.get("/api/v1/tasks").json["allocationIdToSummary"] == {}
    bind(cluster, "mine")
    assert submit(cluster, kind, mine, slots=0, resource_pool="gpu").status == 200


@pytest.mark.parametrize("kind", KINDS)
def test_a_default_pool_that_was_bound_to_another_workspace_since_is_refused_by_its_name(
    cluster: TaskCluster, kind: str
) -> None:
    body = {"resourcePoolName": "gpu", "workspaceNames": ["theirs"]}
    path = "/api/v1/resource-pools/gpu/workspace-bindings"
    assert cluster.admin.put(path, {"resourcePoolName": "gpu", "workspaceIds": []}).status == 200
    mine = workspace(cluster, "mine", defaultAuxPool="gpu")
    assert submit(cluster, kind, mine, slots=0).status == 200
    assert cluster.admin.post(path, body).status == 200
    refused = submit(cluster, kind, mine, slots=0)
    assert refused.status == 400, refused.raw
    assert f"resource pool gpu does not exist or is not available to workspace id {mine}" in refused.message
    assert submit(cluster, kind, mine, slots=0, resource_pool="default").status == 200


@pytest.mark.parametrize("kind", KINDS)
def test_no_task_is_moved_into_a_pool_that_is_bound_to_another_workspace(cluster: TaskCluster, kind: str) -> None:
    assert submit(cluster, kind, workspace(cluster, "mine"), slots=0).status == 200
    [job] = cluster.user.get("/api/v1/job-queues-v2", fields={"resourcePool": "default"}).json["jobs"]
    moved = cluster.user.post(
        "/api/v1/job-queues", {"updates": [{"jobId": job["full"]["jobId"], "resourcePool": "gpu"}]}
    )
    assert moved.status == 400, moved.raw
    assert "is not available to workspace 'mine'" in moved.message
