"""The job queue over HTTP: order, reasons, changes."""

from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import HttpCluster, eventually

POOLS = [{"pool_name": "default"}, {"pool_name": "other"}]


@pytest.fixture
def cluster(start_master: Callable[..., Any], db_url: str) -> HttpCluster:
    return HttpCluster(start_master, db_url, nodes={"a": 1}, resource_pools=POOLS)


def jobs(cluster: HttpCluster) -> list[dict[str, Any]]:
    answer = cluster.user.get("/api/v1/job-queues-v2", fields={"resourcePool": "default"})
    assert answer.status == 200, answer.raw
    return [job["full"] for job in answer.json["jobs"]]


def queue_of(cluster: HttpCluster, n: int) -> list[str]:
    """Submit `n` one-slot experiments to a one-slot cluster; their job ids in order, once all are listed."""
    for _ in range(n):
        cluster.submit()
    eventually(lambda: [bool(j["reason"]) for j in jobs(cluster)] == [False] + [True] * (n - 1))
    return [job["jobId"] for job in jobs(cluster)]


def update(cluster: HttpCluster, **control: Any) -> Any:
    return cluster.user.post("/api/v1/job-queues", {"updates": [control]})


def test_queue_shows_who_waits_for_what_behind_whom(cluster: HttpCluster) -> None:
    queue_of(cluster, 3)
    first, second, third = jobs(cluster)
    assert [j["summary"]["state"] for j in (first, second, third)] == [
        "STATE_SCHEDULED",
        "STATE_QUEUED",
        "STATE_QUEUED",
    ]
    assert [j["summary"]["jobsAhead"] for j in (first, second, third)] == [0, 1, 2]
    assert (first["allocatedSlots"], second["allocatedSlots"], second["requestedSlots"]) == (1, 0, 1)
    assert "waits for 1 free slot in pool 'default': 0 of 1 free" in second["reason"]
    assert (first["entityId"], first["type"], first["username"]) == ("1", "TYPE_EXPERIMENT", "determined")
    page = cluster.user.get("/api/v1/job-queues", fields={"limit": 1, "offset": 1}).json
    assert [j["jobId"] for j in page["jobs"]] == [second["jobId"]] and page["pagination"]["total"] == 3
    queued = cluster.user.get("/api/v1/job-queues", fields={"states": "STATE_QUEUED"}).json["jobs"]
    assert [j["jobId"] for j in queued] == [second["jobId"], third["jobId"]]
    [stats] = cluster.user.get("/api/v1/job-queues/stats", fields={"resourcePools": "default"}).json["results"]
    assert stats["stats"] == {"queuedCount": 2, "scheduledCount": 1}


def test_jobs_move_ahead_of_and_behind_others(cluster: HttpCluster) -> None:
    a, b, c = queue_of(cluster, 3)
    assert update(cluster, jobId=c, aheadOf=b).status == 200
    assert [j["jobId"] for j in jobs(cluster)] == [a, c, b]
    assert update(cluster, jobId=a, behindOf=b).status == 200
    assert [j["jobId"] for j in jobs(cluster)] == [c, b, a]


def test_priority_changes_order_and_config(cluster: HttpCluster) -> None:
    a, b, c = queue_of(cluster, 3)
    assert update(cluster, jobId=c, priority=1).status == 200
    assert [j["jobId"] for j in jobs(cluster)] == [c, a, b]
    config = cluster.user.get("/api/v1/experiments/3").json["experiment"]["config"]
    assert config["resources"]["priority"] == 1
    assert update(cluster, jobId=b, aheadOf=c).status == 200
    assert [(j["jobId"], j["priority"]) for j in jobs(cluster)] == [(b, 1), (c, 1), (a, 42)]


def test_wrong_updates_are_all_named(cluster: HttpCluster) -> None:
    [a] = queue_of(cluster, 1)
    updates = [
        {"jobId": a, "aheadOf": a},
        {"jobId": "nobody", "priority": 5},
        {"jobId": a, "priority": 100},
        {"jobId": a, "weight": 0},
        {"jobId": a, "resourcePool": "default"},
        {"jobId": a, "resourcePool": "nowhere"},
        {"jobId": a},
    ]
    answer = cluster.user.post("/api/v1/job-queues", {"updates": updates})
    assert answer.status == 400
    for words in (
        "relative to itself",
        "nobody",
        "between 1 and 99, not 100",
        "weight=0",
        "already",
        "nowhere",
        "exactly one",
    ):
        assert words in answer.message


def test_job_moves_to_another_pool(cluster: HttpCluster) -> None:
    _, b = queue_of(cluster, 2)
    assert update(cluster, jobId=b, resourcePool="other").status == 200
    eventually(lambda: [j["jobId"] for j in cluster_jobs(cluster, "other")] == [b])


def cluster_jobs(cluster: HttpCluster, pool: str) -> list[dict[str, Any]]:
    answer = cluster.user.get("/api/v1/job-queues", fields={"resourcePool": pool})
    return list(answer.json["jobs"])


def test_impossible_request_is_refused_with_the_nearest_size(cluster: HttpCluster) -> None:
    body = {
        "config": "{name: x, entrypoint: x, searcher: {name: single, metric: l}, hyperparameters: {},"
        " resources: {slots_per_trial: 5}}",
        "modelDefinition": [],
    }
    answer = cluster.user.post("/api/v1/experiments", body)
    assert answer.status == 400
    assert "slots_per_trial=5 exceeds pool 'default' (1 slot); lower it to 1" in answer.message


def test_impossible_request_waits_with_a_warning_when_launch_error_is_off(
    start_master: Callable[..., Any], sqlite_url: str
) -> None:
    cluster = HttpCluster(start_master, sqlite_url, nodes={"a": 1}, launch_error=False)
    body = {
        "config": "{name: x, entrypoint: x, searcher: {name: single, metric: l}, resources: {slots_per_trial: 5}}",
        "modelDefinition": [],
        "activate": True,
    }
    answer = cluster.user.post("/api/v1/experiments", body).json
    assert answer["warnings"] == ["LAUNCH_WARNING_CURRENT_SLOTS_EXCEEDED"]
    assert "slots_per_trial=5 exceeds pool 'default' (1 slot)" in answer["messages"][0]
    eventually(
        lambda: [j["reason"] for j in jobs(cluster)] == ["cannot start: 5 slots exceed pool 'default' (1 slots)"]
    )


def test_large_job_is_not_overtaken_by_a_small_one_that_came_later(
    start_master: Callable[..., Any], db_url: str
) -> None:
    cluster = HttpCluster(start_master, db_url, nodes={"a": 2})
    cluster.submit()
    [first] = cluster.launched()
    large = cluster.submit(resources={"slots_per_trial": 2})
    small = cluster.submit()
    eventually(lambda: len(jobs(cluster)) == 3 and all(job["reason"] for job in jobs(cluster)[1:]))
    _, waiting, behind = jobs(cluster)
    assert [waiting["entityId"], behind["entityId"]] == [str(large), str(small)]
    assert behind["reason"] == f"waits behind job {waiting['jobId']}, for which 2 slots of pool 'default' are reserved"
    cluster.run(first)
    cluster.leave(first)
    _, second = cluster.launched(2)
    assert second.slot_ids == (0, 1)
    cluster.run(second)
    cluster.leave(second)
    assert len(cluster.launched(3)) == 3
