"""A task says that its service answers, or that it has nothing to show yet."""

import pytest
from task_cluster import TaskCluster


def path(allocation_id: str, word: str) -> str:
    return f"/api/v1/allocations/{allocation_id}/{word}"


def test_a_task_is_ready_or_waits_as_it_says(cluster: TaskCluster) -> None:
    task_id = cluster.launch("notebook")["id"]
    launch = cluster.start(task_id)
    assert cluster.task(launch).post(path(launch.allocation_id, "waiting")).status == 200
    assert cluster.get("notebook", task_id)["state"] == "STATE_WAITING"
    assert cluster.task(launch).post(path(launch.allocation_id, "ready")).status == 200
    assert cluster.get("notebook", task_id)["isReady"]


@pytest.mark.parametrize("word", ["ready", "waiting"])
def test_an_id_that_is_none_of_an_allocation_is_refused_by_its_form(cluster: TaskCluster, word: str) -> None:
    task_id = cluster.launch("notebook")["id"]
    task = cluster.task(cluster.start(task_id))
    refused = task.post(path(task_id, word))
    assert refused.status == 400, refused.raw
    assert f"'{task_id}' is no id of an allocation" in refused.message
    assert task.post(path("1.someone-elses.1", word)).status == 403
    assert cluster.user.post(path(f"{task_id}.1", word)).status == 403
    assert not cluster.get("notebook", task_id).get("isReady")
