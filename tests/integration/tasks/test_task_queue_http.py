"""Submitted tasks in the job queue: shown by name, moved, reprioritised, preempted."""

from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import eventually
from task_cluster import TaskCluster

from determined.wire.report import ExitCause

WHOLE = {"entrypoint": ["a"], "resources": {"slots": 4}}


@pytest.fixture
def one_node(start_master: Callable[..., Any], sqlite_url: str) -> TaskCluster:
    """One node of four slots, whose scheduler preempts, and an empty pool."""
    manager = {"type": "agent", "scheduler": {"type": "priority", "preemption": True}}
    pools = [{"pool_name": "default"}, {"pool_name": "elsewhere"}]
    return TaskCluster(start_master, sqlite_url, nodes={"a": 4}, resource_manager=manager, resource_pools=pools)


def queue(cluster: TaskCluster) -> list[Any]:
    jobs: list[Any] = cluster.user.get("/api/v1/job-queues-v2", fields={"resourcePool": "default"}).json["jobs"]
    return [job["full"] for job in jobs]


def update(cluster: TaskCluster, **control: Any) -> Any:
    return cluster.user.post("/api/v1/job-queues", {"updates": [control]})


def queued(cluster: TaskCluster, n: int) -> list[Any]:
    """A task that holds the node, and more that wait; their objects."""
    made = [cluster.launch(config={**WHOLE, "description": f"task {number}"}) for number in range(n)]
    cluster.start(made[0]["id"])
    return made


def test_the_queue_shows_tasks_with_their_names_and_kinds(one_node: TaskCluster) -> None:
    held, waiting = queued(one_node, 2)
    shell = one_node.launch("shell")
    rows = {row["jobId"]: row for row in queue(one_node)}
    first, second, third = (rows[one["jobId"]] for one in (held, waiting, shell))
    assert (first["name"], first["entityId"], first["type"]) == ("task 0", held["id"], "TYPE_COMMAND")
    assert (first["isPreemptible"], first["requestedSlots"], first["priority"]) == (False, 4, 42)
    assert (second["summary"]["state"], second["summary"]["jobsAhead"]) == ("STATE_QUEUED", 1)
    assert third["type"] == "TYPE_SHELL"
    generic = one_node.create()
    row = next(row for row in queue(one_node) if row["entityId"] == generic)
    assert (row["type"], row["isPreemptible"]) == ("TYPE_GENERIC", True)


def test_tasks_move_ahead_of_and_behind_experiments_and_each_other(one_node: TaskCluster) -> None:
    held, a, b = queued(one_node, 3)
    experiment = one_node.submit(resources={"slots_per_trial": 4})
    job = one_node.user.get(f"/api/v1/experiments/{experiment}").json["experiment"]["jobId"]
    eventually(lambda: len(queue(one_node)) == 4)

    def order() -> list[str]:
        return [row["jobId"] for row in queue(one_node) if row["jobId"] != held["jobId"]]

    assert order() == [a["jobId"], b["jobId"], job]
    assert update(one_node, jobId=b["jobId"], aheadOf=a["jobId"]).status == 200
    assert order() == [b["jobId"], a["jobId"], job]
    assert update(one_node, jobId=a["jobId"], behindOf=job).status == 200
    assert order() == [b["jobId"], job, a["jobId"]]
    assert update(one_node, jobId=job, aheadOf=b["jobId"]).status == 200
    assert order() == [job, b["jobId"], a["jobId"]]


def test_a_moved_task_adopts_the_priority_of_its_neighbour(one_node: TaskCluster) -> None:
    _, a, b = queued(one_node, 3)
    assert update(one_node, jobId=a["jobId"], priority=10).status == 200
    assert one_node.get("command", a["id"])["priority"] == 10
    assert update(one_node, jobId=b["jobId"], aheadOf=a["jobId"]).status == 200
    shown = one_node.user.get(f"/api/v1/commands/{b['id']}").json
    assert (shown["command"]["priority"], shown["config"]["resources"]["priority"]) == (10, 10)


def test_priority_and_weight_are_changed_and_a_pool_is_not(one_node: TaskCluster) -> None:
    _, a = queued(one_node, 2)
    assert update(one_node, jobId=a["jobId"], weight=2.5).status == 200
    assert one_node.user.get(f"/api/v1/commands/{a['id']}").json["config"]["resources"]["weight"] == 2.5
    refusals = {
        "between 1 and 99": {"priority": 100},
        "greater than 0": {"weight": 0},
        "only experiments can move to another resource pool": {"resourcePool": "elsewhere"},
    }
    for words, control in refusals.items():
        refused = update(one_node, jobId=a["jobId"], **control)
        assert (refused.status, words in refused.message) == (400, True), refused.raw


def test_a_task_that_has_ended_has_no_place_to_change(one_node: TaskCluster) -> None:
    held, a = queued(one_node, 2)
    one_node.leave(one_node.runner(held["id"]))
    for control in ({"priority": 5}, {"aheadOf": a["jobId"]}):
        refused = update(one_node, jobId=held["jobId"], **control)
        assert refused.status in (200, 400)
    assert "has ended" in update(one_node, jobId=held["jobId"], priority=5).message
    assert "not in the queue" in update(one_node, jobId=a["jobId"], aheadOf=held["jobId"]).message


def test_a_generic_task_that_is_preempted_is_queued_again(one_node: TaskCluster) -> None:
    task_id = one_node.create(config=WHOLE)
    launch = one_node.start(task_id)
    urgent = one_node.launch(config={**WHOLE, "resources": {"slots": 4, "priority": 1}})["id"]
    path = f"/api/v1/allocations/{launch.allocation_id}/signals/preemption"
    eventually(lambda: one_node.task(launch).get(path, fields={"timeoutSeconds": 0}).json["preempt"])
    one_node.leave(launch, 143, ExitCause.PREEMPTED)
    assert one_node.state(task_id) == "ACTIVE"
    one_node.finish(urgent)
    one_node.finish(task_id, run=2)
    assert one_node.state(task_id) == "COMPLETED"


def test_a_command_is_never_preempted(one_node: TaskCluster) -> None:
    low = one_node.launch(config={**WHOLE, "resources": {"slots": 4, "priority": 90}})["id"]
    launch = one_node.start(low)
    one_node.launch(config={**WHOLE, "resources": {"slots": 4, "priority": 1}})
    eventually(lambda: len(queue(one_node)) == 2)
    path = f"/api/v1/allocations/{launch.allocation_id}/signals/preemption"
    assert "not preemptible" in one_node.task(launch).get(path, fields={"timeoutSeconds": 0}).message
    assert one_node.get("command", low)["state"] == "STATE_RUNNING"


def test_jobs_of_others_are_for_administrators(cluster: TaskCluster) -> None:
    job, other = cluster.launch()["jobId"], cluster.person("other")
    refused = other.post("/api/v1/job-queues", {"updates": [{"jobId": job, "priority": 1}]})
    assert (refused.status, f"only the owner of job {job} or an administrator" in refused.message) == (400, True)
    assert cluster.admin.post("/api/v1/job-queues", {"updates": [{"jobId": job, "priority": 1}]}).status == 200
