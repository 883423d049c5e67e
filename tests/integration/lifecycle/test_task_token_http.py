"""What code inside a task may do as the user who submitted it (DET_USER_TOKEN)."""

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


def test_code_in_a_task_works_as_the_user_who_submitted_it(cluster: HttpCluster) -> None:
    _, token = inside(cluster, cluster.user)
    assert token.get("/api/v1/me").json["user"]["username"] == "determined"
    made = token.post("/api/v1/experiments", {"config": CONFIG, "modelDefinition": [], "activate": False})
    assert made.status == 200 and made.json["experiment"]["username"] == "determined"
    child = made.json["experiment"]["id"]
    assert token.post(f"/api/v1/experiments/{child}/activate").status == 200
    assert token.post(f"/api/v1/experiments/{child}/kill").status == 200
    assert token.patch(f"/api/v1/experiments/{child}", {"id": child, "name": "renamed"}).status == 200
    assert token.get("/api/v1/experiments").json["pagination"]["total"] == 2


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
