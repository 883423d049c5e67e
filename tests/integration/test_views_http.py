"""Saved views: made by anybody, seen by everybody, changed by few."""

from typing import Any

import pytest

PATH = "/api/v1/projects/1/views"


@pytest.fixture
def view(user: Any) -> dict[str, Any]:
    answer = user.post(PATH, {"name": "failed", "state": "?q=state%20%3D%20ERROR&sort=-id"})
    assert answer.status == 200, answer.raw
    found: dict[str, Any] = answer.json["view"]
    return found


def test_a_view_is_kept_for_everybody(admin: Any, user: Any, view: dict[str, Any]) -> None:
    assert view["state"] == "q=state%20%3D%20ERROR&sort=-id"
    assert (view["username"], view["projectId"]) == ("determined", 1)
    assert admin.get(PATH).json["views"] == [view]
    second = user.post(PATH, {"name": "best", "state": ""}).json["view"]
    assert [v["name"] for v in user.get(PATH).json["views"]] == ["best", "failed"]
    assert second["id"] != view["id"]


def test_a_view_is_renamed_changed_and_deleted(user: Any, view: dict[str, Any]) -> None:
    path = f"{PATH}/{view['id']}"
    assert user.patch(path, {"name": "errors"}).json["view"] == view | {"name": "errors"}
    assert user.patch(path, {"state": "cols=id"}).json["view"]["state"] == "cols=id"
    assert user.delete(path).status == 200
    assert user.get(PATH).json["views"] == []
    assert user.delete(path).status == 404


def test_names_are_taken_once_per_project(user: Any, view: dict[str, Any]) -> None:
    answer = user.post(PATH, {"name": "failed", "state": ""})
    assert answer.status == 409 and "pick another name" in answer.message
    other = user.post(PATH, {"name": "b", "state": ""}).json["view"]["id"]
    assert user.patch(f"{PATH}/{other}", {"name": "failed"}).status == 409
    assert user.patch(f"{PATH}/{view['id']}", {"name": "failed"}).status == 200
    assert user.post(PATH, {"name": " ", "state": ""}).status == 400
    assert user.post(PATH, {"name": "long", "state": "x" * 40_000}).status == 400


def test_only_authors_owners_and_administrators_change_a_view(admin: Any, user: Any, master: Any) -> None:
    body = {"user": {"username": "third", "active": True, "admin": False}, "password": "Third-pass-1"}
    assert admin.post("/api/v1/users", body).status == 200
    third = master.client("third", "Third-pass-1")
    made = third.post(PATH, {"name": "mine", "state": ""}).json["view"]
    answer = user.patch(f"{PATH}/{made['id']}", {"state": "x=1"})
    assert answer.status == 403 and "third" in answer.message
    assert user.delete(f"{PATH}/{made['id']}").status == 403
    assert third.patch(f"{PATH}/{made['id']}", {"state": "x=2"}).status == 200
    assert admin.delete(f"{PATH}/{made['id']}").status == 200


def test_views_go_with_their_project(user: Any, admin: Any) -> None:
    workspace = user.post("/api/v1/workspaces", {"name": "lab"}).json["workspace"]["id"]
    made = user.post(f"/api/v1/workspaces/{workspace}/projects", {"name": "p", "workspaceId": workspace})
    project = made.json["project"]["id"]
    path = f"/api/v1/projects/{project}/views"
    view = user.post(path, {"name": "v", "state": ""}).json["view"]["id"]
    assert user.patch(f"{PATH}/{view}", {"name": "w"}).status == 404, "it is of another project"
    assert user.delete(f"/api/v1/projects/{project}").status == 200
    assert user.get(path).status == 404
