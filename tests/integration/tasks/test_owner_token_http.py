"""What programs in a command, notebook or shell may do with the token of DET_USER_TOKEN: they act for the owner."""

import pytest
from http_cluster import eventually
from task_cluster import PASSWORD, TaskCluster

ACTING = ("command", "notebook", "shell")


@pytest.mark.parametrize("noun", ACTING)
def test_a_program_in_a_task_acts_as_its_owner(cluster: TaskCluster, noun: str) -> None:
    ada = cluster.person("ada")
    inside = cluster.owner_client(cluster.start(cluster.launch(noun, by=ada)["id"]))
    assert inside.get("/api/v1/me").json["user"]["username"] == "ada"
    child = cluster.launch(by=inside)
    assert child["username"] == "ada"
    assert inside.post(f"/api/v1/commands/{child['id']}/kill").status == 200
    foreign = cluster.launch()["id"]
    assert inside.post(f"/api/v1/commands/{foreign}/kill").status == 403


def test_a_program_of_an_administrator_administrates_nothing(cluster: TaskCluster) -> None:
    inside = cluster.owner_client(cluster.start(cluster.launch(by=cluster.admin)["id"]))
    assert inside.get("/api/v1/me").json["user"]["username"] == "admin"
    user = {"user": {"username": "eve", "active": True, "admin": True}, "password": PASSWORD}
    assert inside.post("/api/v1/users", user).status == 403
    assert inside.post(f"/api/v1/commands/{cluster.launch()['id']}/kill").status == 403


def test_a_program_gains_nothing_that_outlives_its_task(cluster: TaskCluster) -> None:
    ada = cluster.person("ada")
    me = ada.get("/api/v1/me").json["user"]["id"]
    inside = cluster.owner_client(cluster.start(cluster.launch(by=ada)["id"]))
    assert inside.post("/api/v1/tokens", {"userId": me}).status == 403
    assert inside.post(f"/api/v1/users/{me}/password", "Other-password-1").status == 403
    assert inside.patch(f"/api/v1/users/{me}", {"password": "Other-password-1"}).status == 403
    assert inside.post("/api/v1/auth/link").status == 403
    inside.post("/api/v1/auth/logout")
    assert (inside.get("/api/v1/me").status, ada.get("/api/v1/me").status) == (200, 200)


def test_the_token_dies_with_the_allocation(cluster: TaskCluster) -> None:
    task_id = cluster.launch()["id"]
    launch = cluster.start(task_id)
    inside = cluster.owner_client(launch)
    assert inside.get("/api/v1/me").status == 200
    cluster.leave(launch)
    refused = inside.get("/api/v1/me")
    assert (refused.status, "its task has ended" in refused.message) == (401, True)


def test_the_token_of_a_killed_task_that_never_ran_is_void(cluster: TaskCluster) -> None:
    task_id = cluster.launch()["id"]
    inside = cluster.owner_client(cluster.runner(task_id))
    cluster.user.post(f"/api/v1/commands/{task_id}/kill")
    cluster.leave(cluster.runner(task_id), 137, first=1)
    assert inside.get("/api/v1/me").status == 401


def test_the_token_is_refused_as_a_cookie(cluster: TaskCluster) -> None:
    inside = cluster.owner_client(cluster.start(cluster.launch()["id"]))
    token = inside.headers["Authorization"].removeprefix("Bearer ")
    answer = cluster.master.anonymous.get("/api/v1/me", headers={"Cookie": f"auth={token}"})
    assert answer.status == 401


def test_a_forged_or_changed_token_is_refused(cluster: TaskCluster) -> None:
    inside = cluster.owner_client(cluster.start(cluster.launch()["id"]))
    token = inside.headers["Authorization"].removeprefix("Bearer ")
    other = cluster.launch()["id"]
    prefix, body, signature = token.split(".", 2)
    for forged in (token[:-2], f"{prefix}.{body}.", f"{prefix}..{signature}", f"{prefix}.{other}.{signature}", prefix):
        answer = cluster.master.anonymous.get("/api/v1/me", headers={"Authorization": f"Bearer {forged}"})
        assert answer.status == 401, forged


def test_the_token_of_the_allocation_is_no_token_of_the_owner(cluster: TaskCluster) -> None:
    launch = cluster.start(cluster.launch()["id"])
    own = cluster.spec(launch)["userToken"]
    assert own != launch.token
    swapped = launch.token.replace("det-alloc.", "det-owner.")
    assert cluster.master.anonymous.get("/api/v1/me", headers={"Authorization": f"Bearer {swapped}"}).status == 401


def test_a_trial_and_a_tensorboard_have_no_token_of_the_owner(cluster: TaskCluster) -> None:
    experiment = cluster.submit()
    [trial] = cluster.launched()
    board = cluster.runner(cluster.launch("tensorboard", experimentIds=[experiment])["id"])
    for launch in (trial, board):
        token = cluster.spec(launch)["userToken"]
        assert token == launch.token
        swapped = token.replace("det-alloc.", "det-owner.")
        assert cluster.master.anonymous.get("/api/v1/me", headers={"Authorization": f"Bearer {swapped}"}).status == 401


def test_a_deactivated_owner_loses_the_programs_too(cluster: TaskCluster) -> None:
    ada = cluster.person("ada")
    me = ada.get("/api/v1/me").json["user"]["id"]
    inside = cluster.owner_client(cluster.start(cluster.launch(by=ada)["id"]))
    assert cluster.admin.patch(f"/api/v1/users/{me}", {"active": False}).status == 200
    eventually(lambda: inside.get("/api/v1/me").status == 403)
