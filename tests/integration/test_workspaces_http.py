"""Workspaces over HTTP."""

from typing import Any

import pytest


def _make(client: Any, name: str, **fields: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/workspaces", {"name": name, **fields})
    assert answer.status == 200, answer.raw
    assert answer.json["namespaceBindings"] == {}
    made: dict[str, Any] = answer.json["workspace"]
    return made


def test_a_new_cluster_has_the_uncategorized_workspace_and_project(user: Any) -> None:
    listed = user.get("/api/v1/workspaces").json
    assert [(w["id"], w["name"], w["immutable"]) for w in listed["workspaces"]] == [(1, "Uncategorized", True)]
    assert listed["pagination"]["total"] == 1
    projects = user.get("/api/v1/workspaces/1/projects").json["projects"]
    assert [(p["id"], p["name"], p["immutable"]) for p in projects] == [(1, "Uncategorized", True)]


@pytest.mark.parametrize(
    ("method", "path"),
    [("PATCH", ""), ("POST", "/archive"), ("DELETE", "")],
)
def test_uncategorized_cannot_be_changed(admin: Any, method: str, path: str) -> None:
    answer = admin.call(method, f"/api/v1/workspaces/1{path}", {"name": "x"})
    assert answer.status == 400
    assert "built in" in answer.message


def test_a_workspace_is_created_and_found(admin: Any) -> None:
    storage = {"type": "shared_fs", "host_path": "/tmp"}
    made = _make(admin, "Vision", checkpointStorageConfig=storage, agentUserGroup={"agentUid": 5})
    assert (made["username"], made["numProjects"], made["numExperiments"]) == ("admin", 0, 0)
    assert made["checkpointStorageConfig"]["type"] == "shared_fs"
    assert made["agentUserGroup"]["agentUid"] == 5
    assert admin.get(f"/api/v1/workspaces/{made['id']}").json["workspace"] == made
    exact = admin.get("/api/v1/workspaces", fields={"nameCaseSensitive": "Vision"}).json["workspaces"]
    assert [w["id"] for w in exact] == [made["id"]]
    assert admin.get("/api/v1/workspaces", fields={"nameCaseSensitive": "vision"}).json["workspaces"] == []
    part = admin.get("/api/v1/workspaces", fields={"name": "visi"}).json["workspaces"]
    assert [w["id"] for w in part] == [made["id"]]


@pytest.mark.parametrize("name", ["", "   ", "x" * 54])
def test_an_unusable_name_is_refused(user: Any, name: str) -> None:
    assert user.post("/api/v1/workspaces", {"name": name}).status == 400


def test_a_name_exists_once(user: Any) -> None:
    made = _make(user, "a")
    other = _make(user, "b")
    assert user.post("/api/v1/workspaces", {"name": "a"}).status == 409
    assert user.patch(f"/api/v1/workspaces/{other['id']}", {"name": "a"}).status == 409
    assert user.patch(f"/api/v1/workspaces/{made['id']}", {"name": "a"}).status == 200


def test_a_bad_storage_config_is_refused_by_path(user: Any) -> None:
    answer = user.post("/api/v1/workspaces", {"name": "a", "checkpointStorageConfig": {"type": "floppy"}})
    assert answer.status == 400
    assert "type" in answer.message


def test_a_patch_changes_what_it_names_and_null_clears(user: Any) -> None:
    made = _make(
        user, "a", defaultComputePool="gpu", checkpointStorageConfig={"type": "shared_fs", "host_path": "/tmp"}
    )
    path = f"/api/v1/workspaces/{made['id']}"
    renamed = user.patch(path, {"name": "b"}).json["workspace"]
    assert (renamed["name"], renamed["defaultComputePool"]) == ("b", "gpu")
    assert renamed["checkpointStorageConfig"] is not None
    cleared = user.patch(path, {"checkpointStorageConfig": None, "defaultComputePool": None}).json["workspace"]
    assert cleared["checkpointStorageConfig"] is None
    assert not cleared["defaultComputePool"]
    assert cleared["name"] == "b"


def test_only_the_owner_or_an_administrator_changes_a_workspace(admin: Any, user: Any) -> None:
    foreign = _make(admin, "theirs")["id"]
    own = _make(user, "mine")["id"]
    assert user.patch(f"/api/v1/workspaces/{foreign}", {"name": "x"}).status == 403
    assert user.delete(f"/api/v1/workspaces/{foreign}").status == 403
    assert admin.patch(f"/api/v1/workspaces/{own}", {"name": "x"}).status == 200


def test_a_pin_is_each_users_own(admin: Any, user: Any) -> None:
    made = _make(admin, "a")["id"]
    assert admin.post(f"/api/v1/workspaces/{made}/unpin").status == 200
    assert user.post(f"/api/v1/workspaces/{made}/pin").status == 200
    assert user.get(f"/api/v1/workspaces/{made}").json["workspace"]["pinned"] is True
    assert admin.get(f"/api/v1/workspaces/{made}").json["workspace"]["pinned"] is False
    pinned = user.get("/api/v1/workspaces", fields={"pinned": "true"}).json["workspaces"]
    assert [w["id"] for w in pinned] == [made]
    assert user.post(f"/api/v1/workspaces/{made}/unpin").status == 200
    assert user.get(f"/api/v1/workspaces/{made}").json["workspace"]["pinned"] is False


def test_an_archived_workspace_takes_no_projects(user: Any) -> None:
    made = _make(user, "a")["id"]
    assert user.post(f"/api/v1/workspaces/{made}/archive").status == 200
    assert user.get(f"/api/v1/workspaces/{made}").json["workspace"]["archived"] is True
    assert user.post(f"/api/v1/workspaces/{made}/projects", {"name": "p", "workspaceId": made}).status == 400
    assert user.post(f"/api/v1/workspaces/{made}/unarchive").status == 200
    assert user.post(f"/api/v1/workspaces/{made}/projects", {"name": "p", "workspaceId": made}).status == 200


def test_an_empty_workspace_is_deleted_with_its_projects(user: Any) -> None:
    made = _make(user, "a")["id"]
    project = user.post(f"/api/v1/workspaces/{made}/projects", {"name": "p", "workspaceId": made}).json["project"]
    assert user.delete(f"/api/v1/workspaces/{made}").json == {"completed": True}
    assert user.get(f"/api/v1/workspaces/{made}").status == 404
    assert user.get(f"/api/v1/projects/{project['id']}").status == 404


def test_names_are_sorted_whatever_their_case_and_signs_before_letters(user: Any) -> None:
    """As scripts of the official client expect it, on every database and in every locale of its server."""
    made = [_make(user, name)["id"] for name in ("_TestWS", "_TestPatched")]
    rows = user.get("/api/v1/workspaces", fields={"sortBy": "SORT_BY_NAME"}).json["workspaces"]
    assert [w["name"] for w in rows] == ["_TestPatched", "_TestWS", "Uncategorized"]
    for name in ("_TestPRJ", "_TestEarly", "_TestPatchedProject"):
        body = {"name": name, "workspaceId": made[0]}
        assert user.post(f"/api/v1/workspaces/{made[0]}/projects", body).status == 200
    found = user.get(f"/api/v1/workspaces/{made[0]}/projects", fields={"sortBy": "SORT_BY_NAME"}).json["projects"]
    assert [p["name"] for p in found] == ["_TestEarly", "_TestPatchedProject", "_TestPRJ"]


def test_workspaces_are_sorted_filtered_and_paged(admin: Any, user: Any) -> None:
    for name in ("zebra", "Ant"):
        _make(user, name)
    rows = admin.get("/api/v1/workspaces", fields={"sortBy": "SORT_BY_NAME"}).json["workspaces"]
    assert [w["name"] for w in rows] == ["Ant", "Uncategorized", "zebra"]
    mine = admin.get("/api/v1/workspaces", fields={"users": ["determined"]}).json
    assert {w["name"] for w in mine["workspaces"]} == {"Ant", "zebra"}
    by_id = admin.get("/api/v1/workspaces", fields={"userIds": [1]}).json
    assert [w["name"] for w in by_id["workspaces"]] == ["Uncategorized"]
    last = admin.get("/api/v1/workspaces", fields={"limit": 1, "offset": -1}).json
    assert (last["pagination"]["startIndex"], last["pagination"]["endIndex"]) == (2, 3)


@pytest.mark.parametrize("path", ["/api/v1/workspaces/99", "/api/v1/workspaces/99/projects"])
def test_an_unknown_workspace_is_not_found(user: Any, path: str) -> None:
    assert user.get(path).status == 404


def test_the_creator_finds_a_new_workspace_among_the_pinned_ones(admin: Any, user: Any) -> None:
    made = [_make(user, "a")["id"], _make(user, "b")["id"]]
    pinned = user.get("/api/v1/workspaces", fields={"pinned": "true"}).json["workspaces"]
    assert [w["id"] for w in pinned] == made
    assert admin.get("/api/v1/workspaces", fields={"pinned": "true"}).json["workspaces"] == []


@pytest.mark.parametrize(
    ("method", "path"), [("PATCH", ""), ("POST", "/archive"), ("POST", "/unarchive"), ("DELETE", "")]
)
def test_an_ordinary_user_is_refused_before_uncategorized_is_said_to_be_built_in(
    admin: Any, user: Any, method: str, path: str
) -> None:
    for noun in ("workspaces", "projects"):
        assert user.call(method, f"/api/v1/{noun}/1{path}", {"name": "x"}).status == 403, noun
        assert admin.call(method, f"/api/v1/{noun}/1{path}", {"name": "x"}).status == 400, noun


def test_uncategorized_takes_no_projects_and_gives_none(admin: Any) -> None:
    assert admin.post("/api/v1/workspaces/1/projects", {"name": "p", "workspaceId": 1}).status == 400
    made = _make(admin, "a")["id"]
    project = admin.post(f"/api/v1/workspaces/{made}/projects", {"name": "p", "workspaceId": made}).json["project"]
    into = {"projectId": project["id"], "destinationWorkspaceId": 1}
    assert admin.post(f"/api/v1/projects/{project['id']}/move", into).status == 400
    out = {"projectId": 1, "destinationWorkspaceId": made}
    assert admin.post("/api/v1/projects/1/move", out).status == 400


def test_nothing_changes_in_an_archived_workspace(user: Any) -> None:
    made, other = _make(user, "a")["id"], _make(user, "b")["id"]
    project = user.post(f"/api/v1/workspaces/{made}/projects", {"name": "p", "workspaceId": made}).json["project"]["id"]
    free = user.post(f"/api/v1/workspaces/{other}/projects", {"name": "q", "workspaceId": other}).json["project"]["id"]
    assert user.post(f"/api/v1/workspaces/{made}/archive").status == 200
    assert user.get(f"/api/v1/projects/{project}").json["project"]["archived"] is True
    assert user.patch(f"/api/v1/workspaces/{made}", {"name": "c"}).status == 400
    for verb in ("archive", "unarchive"):
        assert user.post(f"/api/v1/projects/{project}/{verb}").status == 400
    assert user.patch(f"/api/v1/projects/{project}", {"name": "c"}).status == 400
    out = {"projectId": project, "destinationWorkspaceId": other}
    assert user.post(f"/api/v1/projects/{project}/move", out).status == 400
    into = {"projectId": free, "destinationWorkspaceId": made}
    assert user.post(f"/api/v1/projects/{free}/move", into).status == 400


def test_an_empty_storage_config_resets_it(user: Any) -> None:
    made = _make(user, "a", checkpointStorageConfig={"type": "shared_fs", "host_path": "/tmp"})["id"]
    assert user.patch(f"/api/v1/workspaces/{made}", {"name": "b"}).json["workspace"]["checkpointStorageConfig"]
    reset = user.patch(f"/api/v1/workspaces/{made}", {"checkpointStorageConfig": {}}).json["workspace"]
    assert reset["checkpointStorageConfig"] is None
