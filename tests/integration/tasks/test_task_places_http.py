"""Submitted tasks and the workspaces that they are in."""

from typing import Any

import pytest
from http_cluster import eventually
from task_cluster import NOUNS, TaskCluster

from determined.wire.report import ExitCause


@pytest.fixture
def workspace(cluster: TaskCluster) -> int:
    return int(cluster.user.post("/api/v1/workspaces", {"name": "w"}).json["workspace"]["id"])


def test_a_deleted_workspace_takes_its_tasks_with_it(cluster: TaskCluster, workspace: int) -> None:
    nouns = [noun for noun in NOUNS if noun != "tensorboard"]
    made = {noun: cluster.launch(noun, workspaceId=workspace)["id"] for noun in nouns}
    project = {"name": "p", "workspaceId": workspace}
    path = f"/api/v1/workspaces/{workspace}/projects"
    generic = cluster.create(projectId=cluster.user.post(path, project).json["project"]["id"])
    kept = cluster.launch()["id"]
    launches = [cluster.start(task_id) for task_id in (*made.values(), generic)]
    cluster.start(kept)
    assert cluster.user.delete(f"/api/v1/workspaces/{workspace}").status == 200
    eventually(lambda: len(cluster.machine.kills) >= 4)
    for launch in launches:
        cluster.leave(launch, 137, ExitCause.KILLED)
    for noun, task_id in made.items():
        assert cluster.get(noun, task_id)["state"] == "STATE_TERMINATED"
    assert cluster.state(generic) == "CANCELED"
    assert cluster.get("command", kept)["state"] == "STATE_RUNNING"
    assert cluster.user.get(f"/api/v1/workspaces/{workspace}").status == 404


def test_a_workspace_in_which_others_work_is_not_deleted_by_its_owner(cluster: TaskCluster, workspace: int) -> None:
    ada: Any = cluster.person("ada")
    task_id = cluster.launch(by=ada, workspaceId=workspace)["id"]
    refused = cluster.user.delete(f"/api/v1/workspaces/{workspace}")
    assert (refused.status, "tasks of others run in workspace 'w'" in refused.message) == (403, True)
    assert cluster.get("command", task_id)["state"] == "STATE_QUEUED"
    cluster.finish(task_id)
    assert cluster.user.delete(f"/api/v1/workspaces/{workspace}").status == 200
    assert cluster.get("command", task_id)["workspaceId"] == 1


def test_a_workspace_that_cannot_be_deleted_keeps_its_tasks(cluster: TaskCluster, workspace: int) -> None:
    path = f"/api/v1/workspaces/{workspace}/projects"
    cluster.user.post(path, {"name": "p", "workspaceId": workspace})
    cluster.submit(activate=False, workspace="w", project="p")
    task_id = cluster.launch(workspaceId=workspace)["id"]
    cluster.start(task_id)
    assert cluster.user.delete(f"/api/v1/workspaces/{workspace}").status == 400
    assert cluster.get("command", task_id)["state"] == "STATE_RUNNING"


def test_a_generic_task_is_in_the_workspace_of_its_project(cluster: TaskCluster, workspace: int) -> None:
    path = f"/api/v1/workspaces/{workspace}/projects"
    project = cluster.user.post(path, {"name": "p", "workspaceId": workspace}).json["project"]["id"]
    task_id = cluster.create(projectId=project)
    jobs = cluster.user.get("/api/v1/job-queues-v2", fields={"resourcePool": "default"}).json["jobs"]
    row = next(job["full"] for job in jobs if job["full"]["entityId"] == task_id)
    assert row["workspaceId"] == workspace
    assert cluster.user.post(f"/api/v1/projects/{project}/archive").status == 200
    assert cluster.try_create({"entrypoint": ["a"]}, projectId=project).status == 404
