"""What code inside a task may do with the token that it has (DET_SESSION_TOKEN, DET_USER_TOKEN)."""

from collections.abc import Callable
from typing import Any

import pytest
from http_cluster import HttpCluster, resources

CONFIG = "name: child\nentrypoint: 'true'\nsearcher: {name: single, metric: a}"


@pytest.fixture
def cluster(start_master: Callable[..., Any], sqlite_url: str) -> HttpCluster:
    return HttpCluster(start_master, sqlite_url, nodes={"a": 4})


def inside(cluster: HttpCluster, owner: Any) -> tuple[Any, Any]:
    """A running task of `owner`, and a client with the user token its processes have."""
    cluster.user, kept = owner, cluster.user
    cluster.submit()
    cluster.user = kept
    launch = cluster.launched()[-1]
    cluster.run(launch)
    spec = cluster.task(launch).get(resources(launch) + "/spec").json
    return launch, type(owner)(owner.url, {"Authorization": f"Bearer {spec['userToken']}"})


def test_code_in_a_task_sees_itself_and_its_experiment(cluster: HttpCluster) -> None:
    launch, token = inside(cluster, cluster.user)
    assert token.get("/api/v1/me").json["user"]["username"] == "determined"
    assert token.get("/api/v1/master").status == 200
    assert token.get("/api/v1/experiments/1").status == 200
    assert token.get("/api/v1/experiments/1/trials").json["trials"][0]["id"] == 1
    assert token.get("/api/v1/trials/1").status == 200
    assert token.get(f"/api/v1/allocations/{launch.allocation_id}").status == 200


def test_code_in_a_task_touches_no_other_experiment_even_of_its_owner(cluster: HttpCluster) -> None:
    other = cluster.submit(activate=False)
    _, token = inside(cluster, cluster.user)
    for verb in ("activate", "pause", "kill", "cancel", "archive"):
        assert token.post(f"/api/v1/experiments/{other}/{verb}").status == 403, verb
    assert token.patch(f"/api/v1/experiments/{other}", {"name": "renamed"}).status == 403
    assert token.get(f"/api/v1/experiments/{other}").status == 403
    assert token.get("/api/v1/experiments").status == 403


def test_code_in_a_task_submits_nothing_but_the_experiment_whose_search_it_drives(cluster: HttpCluster) -> None:
    _, token = inside(cluster, cluster.user)
    submission = {"config": CONFIG, "modelDefinition": [], "activate": False}
    assert token.post("/api/v1/experiments", submission).status == 403
    assert token.put("/api/v1/experiments/by-external-id/mine", submission).status == 403
    assert token.put("/api/v1/experiments/by-external-id/custom-search-of-trial-2", submission).status == 403
    custom = {**submission, "config": CONFIG.replace("name: single", "name: custom"), "activate": True}
    made = token.put("/api/v1/experiments/by-external-id/custom-search-of-trial-1", custom)
    assert made.status == 200, made.raw
    driven = made.json["experiment"]["id"]
    events = token.get(f"/api/v1/experiments/{driven}/searcher_events", fields={"timeoutSeconds": 0})
    assert events.status == 200, events.raw
    assert token.get(f"/api/v1/experiments/{driven}/trials").status == 200


def test_nobody_takes_the_name_of_the_experiment_that_a_trial_will_submit(cluster: HttpCluster) -> None:
    submission = {"config": CONFIG, "modelDefinition": [], "activate": False}
    answer = cluster.user.put("/api/v1/experiments/by-external-id/custom-search-of-trial-1", submission)
    assert answer.status == 400, answer.raw


def test_task_of_an_administrator_has_no_more_rights_than_any(cluster: HttpCluster) -> None:
    foreign = cluster.submit(activate=False)
    assert cluster.user.post(f"/api/v1/experiments/{foreign}/kill").status == 200
    _, token = inside(cluster, cluster.admin)
    refused = token.delete(f"/api/v1/experiments/{foreign}")
    assert refused.status == 403, "deleting what belongs to somebody else is administration"
    assert token.post("/api/v1/agents/a/disable", {}).status == 403
    assert token.post("/api/v1/users", {"user": {"username": "x", "admin": True, "active": True}}).status == 403
    assert cluster.admin.delete(f"/api/v1/experiments/{foreign}").status == 200


def test_token_ends_with_its_allocation(cluster: HttpCluster) -> None:
    launch, token = inside(cluster, cluster.user)
    assert token.get("/api/v1/me").status == 200
    cluster.leave(launch)
    assert token.get("/api/v1/me").status == 401
