"""Projects over HTTP."""

from typing import Any

import pytest


def _workspace(client: Any, name: str) -> int:
    made: int = client.post("/api/v1/workspaces", {"name": name}).json["workspace"]["id"]
    return made


def _project(client: Any, workspace: int, name: str, **fields: Any) -> dict[str, Any]:
    body = {"name": name, "workspaceId": workspace, **fields}
    answer = client.post(f"/api/v1/workspaces/{workspace}/projects", body)
    assert answer.status == 200, answer.raw
    made: dict[str, Any] = answer.json["project"]
    return made


def test_a_project_is_created_and_found_by_id_and_key(user: Any) -> None:
    workspace = _workspace(user, "w")
    made = _project(user, workspace, "Vision", description="cats", key="vis")
    assert (made["key"], made["description"], made["workspaceName"]) == ("VIS", "cats", "w")
    assert (made["numExperiments"], made["numActiveExperiments"], made["numRuns"]) == (0, 0, 0)
    assert user.get(f"/api/v1/projects/{made['id']}").json["project"] == made
    assert user.get("/api/v1/projects/key/VIS").json["project"] == made
    assert user.get("/api/v1/projects/key/NONE").status == 404


def test_a_project_without_a_key_gets_one(user: Any) -> None:
    workspace = _workspace(user, "w")
    keys = [_project(user, workspace, f"Vision {n}")["key"] for n in range(3)]
    assert len(set(keys)) == 3
    assert all(keys)


def test_names_are_unique_in_a_workspace_and_keys_in_the_cluster(user: Any) -> None:
    one, two = _workspace(user, "one"), _workspace(user, "two")
    _project(user, one, "p", key="K1")
    assert user.post(f"/api/v1/workspaces/{one}/projects", {"name": "p", "workspaceId": one}).status == 409
    other = _project(user, two, "p")
    assert user.patch(f"/api/v1/projects/{other['id']}", {"key": "k1"}).status == 409
    assert user.patch(f"/api/v1/projects/{other['id']}", {"key": "too long"}).status == 400


def test_a_patch_changes_only_what_it_names(user: Any) -> None:
    made = _project(user, _workspace(user, "w"), "p", description="d")
    changed = user.patch(f"/api/v1/projects/{made['id']}", {"name": "q", "key": "NEW"}).json["project"]
    assert (changed["name"], changed["description"], changed["key"]) == ("q", "d", "NEW")
    assert user.patch(f"/api/v1/projects/{made['id']}", {"description": ""}).json["project"]["description"] == ""


@pytest.mark.parametrize(("method", "path"), [("PATCH", ""), ("POST", "/archive"), ("DELETE", ""), ("POST", "/move")])
def test_uncategorized_cannot_be_changed(admin: Any, method: str, path: str) -> None:
    workspace = _workspace(admin, "w")
    body = {"name": "x", "destinationWorkspaceId": workspace, "projectId": 1}
    answer = admin.call(method, f"/api/v1/projects/1{path}", body)
    assert answer.status == 400
    assert "built in" in answer.message


def test_owners_of_the_project_or_its_workspace_change_it(master: Any, admin: Any, user: Any) -> None:
    admin.post("/api/v1/users", {"user": {"username": "ann", "admin": False, "active": True}})
    ann = master.client("ann")
    made = _project(ann, _workspace(user, "users own"), "p")["id"]
    assert user.patch(f"/api/v1/projects/{made}", {"name": "by workspace owner"}).status == 200
    assert ann.patch(f"/api/v1/projects/{made}", {"name": "by owner"}).status == 200
    foreign = _project(user, _workspace(user, "other"), "p")["id"]
    assert ann.patch(f"/api/v1/projects/{foreign}", {"name": "x"}).status == 403
    assert ann.delete(f"/api/v1/projects/{foreign}").status == 403


def test_archiving_and_deleting(user: Any) -> None:
    made = _project(user, _workspace(user, "w"), "p")["id"]
    assert user.post(f"/api/v1/projects/{made}/archive").status == 200
    assert user.get(f"/api/v1/projects/{made}").json["project"]["archived"] is True
    assert user.post(f"/api/v1/projects/{made}/unarchive").status == 200
    assert user.delete(f"/api/v1/projects/{made}").json == {"completed": True}
    assert user.get(f"/api/v1/projects/{made}").status == 404


def test_a_project_moves_to_another_workspace(user: Any) -> None:
    here, there = _workspace(user, "here"), _workspace(user, "there")
    made = _project(user, here, "p")["id"]
    body = {"projectId": made, "destinationWorkspaceId": there}
    assert user.post(f"/api/v1/projects/{made}/move", body).status == 200
    assert user.get(f"/api/v1/projects/{made}").json["project"]["workspaceId"] == there
    twin = _project(user, here, "p")["id"]
    assert user.post(f"/api/v1/projects/{twin}/move", {**body, "projectId": twin}).status == 409
    assert user.post(f"/api/v1/projects/{twin}/move", {**body, "destinationWorkspaceId": 99}).status == 404


def test_notes_that_somebody_else_has_changed_are_not_overwritten(user: Any, admin: Any) -> None:
    made = _project(user, _workspace(user, "w"), "p")["id"]
    path = f"/api/v1/projects/{made}/notes"
    mine, theirs = {"name": "a", "contents": "mine"}, {"name": "a", "contents": "theirs"}
    assert admin.put(path, {"projectId": made, "notes": [theirs], "expected": []}).status == 200
    refused = user.put(path, {"projectId": made, "notes": [mine], "expected": []})
    assert (refused.status, refused.json["error"]["details"]) == (409, {"current": [theirs]})
    assert user.put(path, {"projectId": made, "notes": [mine], "expected": [theirs]}).status == 200
    assert user.put(path, {"projectId": made, "notes": [theirs]}).status == 200, "older clients expect nothing"


def test_notes_are_added_and_replaced(user: Any) -> None:
    made = _project(user, _workspace(user, "w"), "p")["id"]
    one, two = {"name": "a", "contents": "1"}, {"name": "b", "contents": "2"}
    assert user.post(f"/api/v1/projects/{made}/notes", one).json["notes"] == [one]
    assert user.post(f"/api/v1/projects/{made}/notes", two).json["notes"] == [one, two]
    put = user.put(f"/api/v1/projects/{made}/notes", {"projectId": made, "notes": [two]})
    assert put.json["notes"] == [two]
    assert user.get(f"/api/v1/projects/{made}").json["project"]["notes"] == [two]


def test_projects_of_a_workspace_are_sorted_and_filtered(user: Any) -> None:
    workspace = _workspace(user, "w")
    for name in ("b", "A", "c"):
        _project(user, workspace, name)
    path = f"/api/v1/workspaces/{workspace}/projects"
    by_name = user.get(path, fields={"sortBy": "SORT_BY_NAME", "orderBy": "ORDER_BY_DESC"}).json["projects"]
    assert [p["name"] for p in by_name] == ["c", "b", "A"]
    assert [p["name"] for p in user.get(path, fields={"name": "a"}).json["projects"]] == ["A"]
    assert len(user.get("/api/v1/workspaces/0/projects").json["projects"]) == 4, "id 0 means all workspaces"


def test_recent_projects_are_those_looked_at_last(user: Any) -> None:
    workspace = _workspace(user, "w")
    one, two = _project(user, workspace, "one")["id"], _project(user, workspace, "two")["id"]
    for project in (one, two, one):
        body = {"activityType": "ACTIVITY_TYPE_GET", "entityType": "ENTITY_TYPE_PROJECT", "entityId": project}
        assert user.post("/api/v1/users/activity", body).status == 200
    recent = user.get("/api/v1/user/projects/activity").json["projects"]
    assert [p["id"] for p in recent] == [one, two]
    assert len(user.get("/api/v1/user/projects/activity", fields={"limit": 1}).json["projects"]) == 1


def test_columns_differ_by_table_and_an_unknown_project_has_none(user: Any) -> None:
    experiments = user.get("/api/v1/projects/1/columns").json["columns"]
    runs = user.get("/api/v1/projects/1/columns", fields={"tableType": "TABLE_TYPE_RUN"}).json["columns"]
    assert {c["location"] for c in experiments} == {"LOCATION_TYPE_EXPERIMENT"}
    assert {c["location"] for c in runs} == {"LOCATION_TYPE_RUN"}
    assert user.get("/api/v1/projects/99/columns").status == 404
    assert user.get("/api/v1/projects/1/experiments/metric-ranges").json == {"ranges": []}


def test_an_archived_project_takes_no_changes_and_no_experiments(user: Any) -> None:
    workspace = user.post("/api/v1/workspaces", {"name": "w"}).json["workspace"]["id"]
    places = []
    for name in ("p", "q"):
        body = {"name": name, "workspaceId": workspace}
        places.append(user.post(f"/api/v1/workspaces/{workspace}/projects", body).json["project"]["id"])
    config = "name: x\nentrypoint: 'true'\nsearcher: {name: single, metric: a}"
    submission = {"config": config, "modelDefinition": [], "unmanaged": True, "projectId": places[0]}
    experiment = user.post("/api/v1/experiments", submission).json["experiment"]["id"]
    assert user.post(f"/api/v1/projects/{places[0]}/archive").status == 200
    assert user.patch(f"/api/v1/projects/{places[0]}", {"description": "new"}).status == 400
    assert user.post("/api/v1/experiments", submission).status == 400
    out = {"experimentId": experiment, "destinationProjectId": places[1]}
    assert user.post(f"/api/v1/experiments/{experiment}/move", out).status == 400
    other = user.post("/api/v1/experiments", {**submission, "projectId": places[1]}).json["experiment"]["id"]
    into = {"experimentId": other, "destinationProjectId": places[0]}
    assert user.post(f"/api/v1/experiments/{other}/move", into).status == 400
    assert user.post(f"/api/v1/projects/{places[0]}/unarchive").status == 200
    assert user.post(f"/api/v1/experiments/{experiment}/move", out).status == 200
